/** `client.events`: the events of servers (the extension `io.modelcontextprotocol/events`, SEP-3415). */
import { ProtocolError } from '@modelcontextprotocol/client'
import { isA, memberOf } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import { ANYTHING } from './anything.ts'
import { type Connection, REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import { MCPClientError } from './errors.ts'
import type { Servers } from './servers.ts'

/** An event that a server offers. */
export interface OfferedEvent {
  readonly name: string
  /** Untrusted text. */
  readonly description?: string
  readonly delivery: readonly string[]
  readonly inputSchema?: object
  readonly payloadSchema?: object
}

/** What to listen for. */
export interface EventSelection {
  /** The event's `name`. */
  readonly name: string
  /** As its `inputSchema` says. Default: none. */
  readonly arguments?: { readonly [name: string]: unknown }
}

/** What `events.poll` asks for. */
export interface EventPoll extends EventSelection {
  /** Of the last answer. Null or absent: no events, only the cursor of now. */
  readonly cursor?: string | null
  readonly maxEvents?: number
  readonly maxAgeMs?: number
}

/** What `events.poll` returns. */
export interface PolledEvents {
  /** Untrusted content. The same `eventId` may come again: it is the same event. */
  readonly events: readonly {
    readonly eventId: string
    readonly name: string
    readonly timestamp: string
    readonly data: { readonly [name: string]: unknown }
  }[]
  /** Store it once the events are done. */
  readonly cursor: string | null
  /** Events were left out. */
  readonly truncated: boolean
  /** More can be polled at once. */
  readonly hasMore: boolean
  /** Milliseconds to wait otherwise. */
  readonly nextPollMs?: number
}

/** What `events.subscribe` asks for. */
export interface EventSubscription extends EventSelection {
  /** The URL of your webhook, such as one with `eventsHandler` of `mayfly-mcp/webhook`, and the secret that it knows. */
  readonly delivery: { readonly url: string; readonly secret: string }
  /** Of the last event that was processed. Null or absent: from now on. */
  readonly cursor?: string | null
  /** The lifetime that is wished, in milliseconds; null: it does not expire. Default: the server's. */
  readonly ttlMs?: number | null
  readonly maxAgeMs?: number
}

/** What `events.subscribe` returns. */
export interface SubscribedEvents {
  readonly id: string
  /** When to subscribe again at the latest, with the same parameters: ISO 8601. Null: it does not expire. */
  readonly refreshBefore: string | null
  readonly cursor: string | null
  /** Events were left out. */
  readonly truncated: boolean
}

/**
 * `client.events`. All methods reject with `UNSUPPORTED` for a server without events, and with `REQUEST_FAILED` for what the server refuses:
 * `cause.code` is the error of SEP-3415.
 */
export interface ClientEvents<Name extends string> {
  /** What the server offers to this caller. */
  list(server: Name, settings?: RequestSettings): Promise<readonly OfferedEvent[]>
  /** The events since a cursor. */
  poll(server: Name, poll: EventPoll, settings?: RequestSettings): Promise<PolledEvents>
  /** Subscribes a webhook, or refreshes the subscription with the same URL, event and arguments. */
  subscribe(
    server: Name,
    subscription: EventSubscription,
    settings?: RequestSettings,
  ): Promise<SubscribedEvents>
  /** Ends a subscription. Takes also what `subscribe` took: the name, the arguments and the URL say which one it is. */
  unsubscribe(
    server: Name,
    subscription: EventSelection & { readonly delivery: { readonly url: string } },
    settings?: RequestSettings,
  ): Promise<void>
}

const SELECTION = { name: 'string', arguments: 'object' } as const
const POLL: Names<EventPoll> = { ...SELECTION, cursor: 1, maxEvents: [1], maxAgeMs: [0] }
const SUBSCRIPTION: Names<EventSubscription> = {
  ...SELECTION,
  delivery: 'object',
  cursor: 1,
  ttlMs: 1,
  maxAgeMs: [0],
}

const DELIVERY: Names<EventSubscription['delivery']> = { url: 'string', secret: 'string' }

const METHOD_NOT_FOUND = -32601
const MAX_ERROR_CHARACTERS = 4096
/** Pages of a list, and events of one answer. */
const MAX_PAGES = 50
const MAX_EVENTS = 1000

export function createClientEvents<Name extends string>(servers: Servers<Name>): ClientEvents<Name> {
  const ask = <T>(
    server: Name,
    method: string,
    params: object,
    settings: RequestSettings | undefined,
    read: (answer: { readonly [name: string]: unknown }) => T | undefined,
  ): Promise<T> => {
    refuseUnknown(`The settings of ${method.replace('/', '.')}`, settings, REQUEST_SETTINGS)
    return request(servers.of(server), method, params, settings, read)
  }
  return {
    async list(server, settings) {
      const events: OfferedEvent[] = []
      let cursor: string | undefined
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const page = await ask(
          server,
          'events/list',
          cursor === undefined ? {} : { cursor },
          settings,
          readPage,
        )
        events.push(...page.events)
        cursor = page.nextCursor
        if (cursor === undefined) break
      }
      return events
    },
    async poll(server, poll, settings) {
      requireOptions('events.poll', poll, POLL, 'name')
      return ask(server, 'events/poll', { cursor: null, ...poll }, settings, readPolled)
    },
    async subscribe(server, subscription, settings) {
      requireOptions('events.subscribe', subscription, SUBSCRIPTION, 'name', 'delivery')
      const { delivery, ...rest } = subscription
      requireOptions('"delivery" of events.subscribe', delivery, DELIVERY, 'url', 'secret')
      const params = { arguments: {}, cursor: null, ...rest, delivery: { mode: 'webhook', ...delivery } }
      return ask(server, 'events/subscribe', params, settings, readSubscribed)
    },
    async unsubscribe(server, subscription, settings) {
      requireOptions('events.unsubscribe', subscription, SUBSCRIPTION, 'name', 'delivery')
      requireOptions('"delivery" of events.unsubscribe', subscription.delivery, DELIVERY, 'url')
      const {
        name,
        arguments: args = {},
        delivery: { url },
      } = subscription
      const params = { name, arguments: args, delivery: { mode: 'webhook', url } }
      await ask(server, 'events/unsubscribe', params, settings, () => true)
    },
  }
}

async function request<T>(
  connection: Connection,
  method: string,
  params: object,
  settings: RequestSettings | undefined,
  read: (answer: { readonly [name: string]: unknown }) => T | undefined,
): Promise<T> {
  const { server } = connection
  const details = { server, operation: method }
  try {
    return await connection.request(
      method,
      async (client, options, extra) => {
        const asked = { method, params: { ...params, ...extra } }
        const answer = await client.request(asked, ANYTHING, { ...options, allowInputRequired: true })
        const result = isObject(answer) ? read(answer) : undefined
        if (result !== undefined) return result
        throw new MCPClientError(
          'REQUEST_FAILED',
          `MCP server "${server}" sent an invalid answer to ${method}.`,
          details,
        )
      },
      settings,
    )
  } catch (error) {
    const cause = isA(error, MCPClientError) ? error.cause : undefined
    if (!isUnknownMethod(cause)) throw error
    throw unsupported({ ...details, cause })
  }
}

/**
 * Whether the server does not know the method: from its error, or from the body of its 404, which the official client does not read. What it
 * declares says less: the official client drops the capability `events` of the drafts before SEP-3415.
 */
function isUnknownMethod(cause: unknown): boolean {
  if (isA(cause, ProtocolError)) return cause.code === METHOD_NOT_FOUND
  const data = memberOf(cause, 'data')
  const text = isObject(data) && data.status === 404 ? String(data.text) : ''
  return text.length <= MAX_ERROR_CHARACTERS && /"code"\s*:\s*-32601\b/.test(text)
}

function unsupported(details: {
  readonly server: string
  readonly operation: string
  readonly cause?: unknown
}): MCPClientError {
  const { server, operation } = details
  return new MCPClientError('UNSUPPORTED', `MCP server "${server}" has no ${operation}.`, details)
}

type Answer = { readonly [name: string]: unknown }

function readPage({
  events,
  nextCursor,
}: Answer): { events: OfferedEvent[]; nextCursor?: string } | undefined {
  if (!Array.isArray(events) || events.length > MAX_EVENTS) return undefined
  const offered = events.filter(
    (event) => isObject(event) && typeof event.name === 'string' && Array.isArray(event.delivery),
  ) as unknown[] as OfferedEvent[]
  return { events: offered, ...(typeof nextCursor === 'string' && { nextCursor }) }
}

const isCursor = (cursor: unknown): cursor is string | null => typeof cursor === 'string' || cursor === null

function readPolled({
  events,
  cursor = null,
  truncated,
  hasMore,
  nextPollMs,
}: Answer): PolledEvents | undefined {
  if (!Array.isArray(events) || events.length > MAX_EVENTS || !isCursor(cursor)) return undefined
  const isValid = events.every(
    (event) =>
      isObject(event) &&
      typeof event.eventId === 'string' &&
      typeof event.name === 'string' &&
      typeof event.timestamp === 'string' &&
      isObject(event.data),
  )
  if (!isValid) return undefined
  const wait = typeof nextPollMs === 'number' && nextPollMs >= 0 ? { nextPollMs } : {}
  return { events, cursor, truncated: truncated === true, hasMore: hasMore === true, ...wait }
}

function readSubscribed({
  id,
  refreshBefore,
  cursor = null,
  truncated,
}: Answer): SubscribedEvents | undefined {
  const isDate = typeof refreshBefore === 'string' && !Number.isNaN(Date.parse(refreshBefore))
  if (typeof id !== 'string' || !isCursor(cursor)) return undefined
  if (!isDate && refreshBefore !== null) return undefined
  return { id, refreshBefore: refreshBefore as string | null, cursor, truncated: truncated === true }
}
