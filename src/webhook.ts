/**
 * Webhooks that receive signed requests: `eventsHandler` the events of MCP servers for their clients, and `createEventWebhook`, as follows.
 *
 * A webhook for trusted systems that can call a URL but cannot use a bus, such as a database or a CI job: a signed `POST` publishes
 * change events. A separate entry point, so that it is loaded only if it is used.
 */

import { ABOVE_ZERO } from './definition/option-kind.ts'
import { withTimeout } from './definition/timeout.ts'
import { type Names, requireOptions } from './definition/unknown-option.ts'
import type { Bus, ChangeEvent } from './events/bus.ts'
import type { NotifiableLists } from './events/notifiable.ts'
import { BUS_TIMEOUT_MS, createOutage, type OutageOptions, toReport } from './events/outage.ts'
import { readBytes } from './http/body-pieces.ts'
import { BODY_STATUS, type BodyFault, jsonAnswer } from './http/json-answer.ts'
import { createUnsetAnswer, isUnset } from './http/unset-secret.ts'
import { parseEvents } from './webhook/events.ts'
import { createMemoryStore, type WebhookStore } from './webhook/replays.ts'
import { createVerifier, readSigned } from './webhook/signature.ts'

export {
  type DeliveredEvent,
  type Delivery,
  type EventsHandlerOptions,
  type EventsNotice,
  eventsHandler,
} from './webhook/events-handler.ts'
export type { WebhookStore } from './webhook/replays.ts'

/** Options of `createEventWebhook`. */
export type EventWebhookOptions = EventWebhookTarget & EventWebhookChecks

/** Where events are published: on a bus, or by a server, which also reaches its own sessions without a bus. */
export type EventWebhookTarget =
  | { readonly bus: Bus; readonly server?: never }
  | { readonly server: NotifiableLists; readonly bus?: never }

export interface EventWebhookChecks extends Pick<OutageOptions, 'onError'> {
  /**
   * `whsec_` and 24 to 64 random bytes in base64. Pass several for rotation: a signature by any of them is accepted. Undefined or empty, as
   * from a variable that is not set: every request gets 503.
   */
  readonly secret: string | readonly string[] | undefined
  /** Seconds by which a timestamp may differ from this server's clock, either way. Default 300. */
  readonly toleranceSeconds?: number
  /** Bytes of a body. Default 65 536. */
  readonly maxBodyBytes?: number
  /** Remembers ids, so that none is accepted twice. Default: in memory, for one process or isolate. */
  readonly store?: WebhookStore
}

const OPTIONS: Names<EventWebhookOptions> = {
  bus: 'object',
  server: 'object',
  secret: 'string object',
  toleranceSeconds: [ABOVE_ZERO],
  maxBodyBytes: [ABOVE_ZERO],
  store: 'object',
  onError: 'function',
}

/** Milliseconds within which a body must arrive. */
const BODY_TIMEOUT_MS = 10_000

/** How much longer an id is remembered than its timestamp is valid, since its body may arrive late and clocks differ. */
const REMEMBERED_MS = 60_000

/** The same for every reason, so that a forger learns nothing. */
const UNVERIFIED =
  'The webhook is not signed with a known secret, or its timestamp differs too much from the current time.'

/**
 * Creates the `fetch` of a webhook that publishes the change events in its body: mount it at its own path next to the server. It verifies
 * the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard Webhooks, symmetric), and never rejects.
 *
 * Answers 202 once the events are published. Refuses with 400 (body), 401 (signature or timestamp), 405, 408, 409 (an id that was accepted
 * before), 413, and 503 if the bus or the store fails: the sender may then send the same webhook again. Everything is 503
 * while no secret is set.
 *
 * @throws TypeError without a bus or a server, and for invalid secrets and numbers.
 *
 * ```ts
 * const webhook = createEventWebhook({ bus, secret: 'whsec_...' })
 * ```
 */
export function createEventWebhook(options: EventWebhookOptions): (request: Request) => Promise<Response> {
  requireOptions('createEventWebhook', options, OPTIONS)
  const { secret, toleranceSeconds = 300, maxBodyBytes = 65_536, store = createMemoryStore() } = options
  const publish = toPublish(options)
  if (isUnset('createEventWebhook', 'secret', options)) {
    const unset = createUnsetAnswer('createEventWebhook', 'secret')
    return async () => unset()
  }
  const { verify } = createVerifier([secret ?? []].flat())
  const outage = createOutage(toReport(options, 'Webhook'))

  const claim = async (id: string, expiresAt: number): Promise<boolean> => {
    const claimed = Promise.resolve(store.claim(id, expiresAt))
    try {
      return await withTimeout(claimed, BUS_TIMEOUT_MS, 'store')
    } catch (error) {
      // It may still store the id, although the sender is asked to send it again.
      claimed.then((isFirst) => isFirst && store.release?.(id)).catch(() => {})
      throw error
    }
  }

  const accept = async (id: string, expiresAt: number, events: readonly ChangeEvent[]): Promise<Response> => {
    if (!(await claim(id, expiresAt))) return refuse(409, 'This webhook-id was accepted before.')
    try {
      await Promise.all(events.map((event) => withTimeout(publish(event), BUS_TIMEOUT_MS, 'bus')))
    } catch (error) {
      await withTimeout(store.release?.(id), BUS_TIMEOUT_MS, 'store')
      throw error
    }
    outage.end()
    return jsonAnswer(202, { accepted: events.length })
  }

  return async (request) => {
    if (request.method !== 'POST') return refuse(405, 'Send a POST.', { allow: 'POST' })
    const signed = readSigned(request.headers)
    const sentAt = Number(signed?.timestamp)
    if (signed === undefined || Math.abs(Date.now() / 1000 - sentAt) > toleranceSeconds)
      return refuse(401, UNVERIFIED)
    const body = await readBytes(request, maxBodyBytes, BODY_TIMEOUT_MS)
    if ('fault' in body) return refuseBody(body.fault)
    if (!(await verify(signed, body))) return refuse(401, UNVERIFIED)
    const events = parseEvents(body)
    if (events === undefined) return refuse(400, 'The body must be a change event, or a list of 1 to 100.')
    const expiresAt = (sentAt + toleranceSeconds) * 1000 + REMEMBERED_MS
    try {
      return await accept(`webhook:${signed.id}`, expiresAt, events)
    } catch (error) {
      outage.begin(error)
      return refuse(503, 'The events cannot be published now: send the webhook again later.')
    }
  }
}

const FAULTS: { readonly [fault in BodyFault]: string } = {
  'too-large': 'The body is too large.',
  'too-slow': 'The body did not arrive in time.',
  'not-utf8': 'The body is not UTF-8.',
  unreadable: 'The body cannot be read.',
}

function refuseBody(fault: BodyFault): Response {
  return refuse(BODY_STATUS[fault], FAULTS[fault])
}

function toPublish({ bus, server }: EventWebhookTarget): Bus['publish'] {
  if (typeof bus?.publish === 'function') return (event) => bus.publish(event)
  if (server === undefined) throw new TypeError('createEventWebhook needs "bus" or "server".')
  const { tools, prompts, resources } = server
  return (event) => {
    switch (event.type) {
      case 'toolsListChanged':
        return tools.notifyListChanged()
      case 'promptsListChanged':
        return prompts.notifyListChanged()
      case 'resourcesListChanged':
        return resources.notifyListChanged()
      case 'resourceUpdated':
        return resources.notifyUpdated(event)
    }
  }
}

function refuse(status: number, error: string, headers?: { readonly allow: string }): Response {
  return jsonAnswer(status, { error }, headers)
}
