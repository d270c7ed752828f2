/** The admin of events: for code in the process of their server, and for operators at the endpoint of events. */
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { createAdminGate } from '../../tasks/admin/gate.ts'
import { operatedOf } from '../core.ts'
import type { EventControls } from '../support.ts'
import { createOperations, type EventOperations } from './operations.ts'
import { EVENT_ACTIONS } from './wire.ts'

export interface EventAdminOptions {
  /**
   * The bearer token of operators: 32 or more random characters, and not the secret of the cron. For rotation a list, or several in a string,
   * separated by commas: each is accepted. Who has it reads events and the arguments of all subscriptions. Undefined or empty, as from a
   * variable that is not set: their requests get 503, and the rest of the server works.
   */
  readonly secret: string | readonly string[] | undefined
}

const OPTIONS: Names<EventAdminOptions> = { secret: 'string strings' }

/** What has events: an `MCPServer`. */
export interface ServerWithEvents {
  readonly events: EventControls
}

export interface EventAdmin {
  /** For code in the process of the server. Nobody is asked for the secret. @throws TypeError for a server without events. */
  of(server: ServerWithEvents): EventOperations
  /** For `createEventEndpoint`: answers a request of an operator, undefined for any other. Rejects with errors of the store. */
  answer(request: Request, query: URLSearchParams, server: ServerWithEvents): Promise<Response> | undefined
  /** For `createEventEndpoint`. @throws TypeError if one of its secrets is one of this admin. */
  refuseSecrets(secrets: string | readonly string[]): void
}

/**
 * Creates the admin for the `admin` of `createEventEndpoint`, which then also answers, at its own path:
 *
 * - `GET ?list&reason=refused&name=incident.created&olderThanMs=60000&youngerThanMs=3600000&limit=50&after=<next>`: `{ letters, next? }`
 * - `GET ?show=<id>`: one dead letter, with its event and its subscription
 * - `POST ?redeliver=<id>`: `{ eventId, isActive }`
 *
 * Each needs `Authorization: Bearer <secret>`, otherwise it is a 401 (503 while no secret is set), before anything is read. Refusals are 400,
 * 404, 405 or 409 with `{ code, error }`.
 *
 * @throws TypeError for a secret that is too short.
 */
export function createEventAdmin(options: EventAdminOptions): EventAdmin {
  requireOptions('createEventAdmin', options, OPTIONS)
  const of: EventAdmin['of'] = (server) => {
    const operated = operatedOf.get(server.events)
    if (operated === undefined)
      throw new TypeError('createEventAdmin().of needs a server whose events are of this copy of mayfly-mcp.')
    return createOperations(operated)
  }
  const gate = createAdminGate('createEventAdmin', 'MAYFLY_EVENTS_SECRET', options, EVENT_ACTIONS, of)
  return {
    of,
    answer: gate.answer,
    refuseSecrets: (given) => gate.refuseSecrets([given], '"secret" of createEventEndpoint'),
  }
}
