/** A `fetch` for the operator of events: the platform's cron, which makes due deliveries, and those who look after dead letters. */
import { printError } from '../../definition/print-error.ts'
import { withTimeout } from '../../definition/timeout.ts'
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { besideOf, type DescribedServer, type MountedServer, mountedAt } from '../../http/mounted.ts'
import { createUnsetAnswer } from '../../http/unset-secret.ts'
import { toFetch } from '../../request/fetch-call.ts'
import type { RequestPlatform } from '../../request/platform.ts'
import { createOptionalSecrets, isBearer } from '../../tasks/endpoint-secrets.ts'
import { operatedOf } from '../core.ts'
import type { EventAdmin, ServerWithEvents } from './admin.ts'

/** What an endpoint needs from a server: an `MCPServer` with `events`. */
export interface EventServer extends DescribedServer, ServerWithEvents {}

export interface EventEndpointOptions {
  readonly server: EventServer
  /**
   * The bearer token of the cron: 32 or more random characters. For rotation a list, or several in a string, separated by commas: each is
   * accepted. Undefined or empty, as from a variable that is not set: its requests get 503, and the rest of the server works.
   */
  readonly secret: string | readonly string[] | undefined
  /** Milliseconds that one call may take, 3000 or more. Default: the platform's limit if known, otherwise 10 000. */
  readonly maxDurationMs?: number
  /** Of `createEventAdmin`: this endpoint also lists, shows and redelivers dead letters. Default: it does not. */
  readonly admin?: EventAdmin
}

const OPTIONS: Names<EventEndpointOptions> = {
  server: 'object',
  secret: 'string strings',
  maxDurationMs: [3000],
  admin: 'object',
}

export interface EventEndpoint {
  /** Never rejects. */
  fetch(request: Request, env?: unknown, executionContext?: unknown): Promise<Response>
  /**
   * The server with this endpoint at its own path: export it instead of the server.
   *
   * @param path default `/events`.
   * @param beside the server as another endpoint has mounted it: `events.mount('/events', tasks.mount('/tasks'))`. Default: the server.
   * @throws TypeError for an invalid path, and for another server.
   */
  mount(path?: string, beside?: DescribedServer): MountedServer
}

const DURATION_MS = 10_000
/** Time reserved at the end of a call for its answer. */
const RESERVE_MS = 500

/**
 * Creates the endpoint: mount it at its own path next to the server.
 *
 * - `GET` or `POST` with `Authorization: Bearer <secret>`: makes the deliveries that are due, and answers
 *   `{ "delivered": 3, "failed": 0, "nextDueAt": null }`. Vercel's cron sends its `CRON_SECRET` this way.
 * - with `admin`, requests that list, show or redeliver dead letters, with its own secret.
 *
 * Everything else is 401 or 405; 503 while the store cannot be reached, or the secret is not set.
 *
 * @throws TypeError for a secret that is too short, or too little time for a run.
 */
export function createEventEndpoint(options: EventEndpointOptions): EventEndpoint {
  requireOptions('createEventEndpoint', options, OPTIONS)
  const { server, secret, maxDurationMs, admin } = options
  const secrets = createOptionalSecrets('createEventEndpoint', 'secret', options)
  admin?.refuseSecrets(secret ?? [])
  const unset = createUnsetAnswer('createEventEndpoint', 'secret', 'CRON_SECRET')

  const run = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    const { env, waitUntil, deadline: endsAt = Date.now() + DURATION_MS } = platform
    const deadline = (maxDurationMs === undefined ? endsAt : Date.now() + maxDurationMs) - RESERVE_MS
    if (secrets === undefined) return unset()
    if (!(await isBearer(request, secrets)))
      return jsonAnswer(401, { error: 'Send the secret as a bearer token.' })
    const running = server.events.run({ env, ...(waitUntil && { waitUntil }), deadline })
    const done = await withTimeout(
      running,
      Math.max(0, deadline - Date.now()) + RESERVE_MS / 2,
      'run of the events',
    )
    return jsonAnswer(200, done)
  }

  const serve = async (request: Request, platform: RequestPlatform): Promise<Response> => {
    try {
      // It may be the first request that this process gets.
      operatedOf.get(server.events)?.core.host().owner.see(platform.env)
      const administered = admin?.answer(request, new URL(request.url).searchParams, server)
      if (administered !== undefined) return await administered
      if (request.method !== 'GET' && request.method !== 'POST')
        return jsonAnswer(405, { error: 'Send a GET or a POST.' }, { allow: 'GET, POST' })
      return await run(request, platform)
    } catch (error) {
      printError(error)
      return jsonAnswer(503, { error: 'The events cannot be reached now: try again later.' })
    }
  }

  return {
    fetch: toFetch(serve),
    mount: (path = '/events', beside = server) =>
      mountedAt(besideOf(server, beside), path, 'endpoint of events', serve),
  }
}
