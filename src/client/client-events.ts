/** `client.events`: the events of servers (the extension `io.modelcontextprotocol/events`, SEP-3415). */
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import { checkTimeout } from './config.ts'
import { REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import { readPage, readPolled, readSubscribed } from './event-answers.ts'
import type { EventStream } from './event-iterator.ts'
import { type EventSubscribeSettings, Refreshes, SUBSCRIBE_SETTINGS } from './event-refresh.ts'
import { request, requestPages } from './event-requests.ts'
import { type EventStreamSettings, openEventStream, STREAM_SETTINGS } from './event-stream.ts'
import type {
  EventPoll,
  EventSelection,
  EventStreamSelection,
  EventSubscription,
  OfferedEvent,
  PolledEvents,
  SubscribedEvents,
} from './event-types.ts'
import type { Servers } from './servers.ts'
import { checkCursors } from './stored-cursor.ts'

/**
 * `client.events`. All methods reject with `UNSUPPORTED` for a server without events, and with `REQUEST_FAILED` for what the server refuses:
 * `cause.code` is the error of SEP-3415.
 */
export interface ClientEvents<Name extends string> {
  /** What the server offers to this caller. */
  list(server: Name, settings?: RequestSettings): Promise<readonly OfferedEvent[]>
  /** The events since a cursor. */
  poll(server: Name, poll: EventPoll, settings?: RequestSettings): Promise<PolledEvents>
  /**
   * The events as they happen, in a `for await` loop. Each comes once, also after the connection was lost or the server ended the stream in
   * order: it continues at the last cursor. The request is sent by the first `next()`; leaving the loop ends it.
   *
   * @throws MCPClientError from the loop: what the server refuses, or if it could not be reached seven times in a row.
   */
  stream(server: Name, selection: EventStreamSelection, settings?: EventStreamSettings): EventStream
  /** Subscribes a webhook, or refreshes the subscription with the same URL, event and arguments. `{ refresh: true }` repeats it in time. */
  subscribe(
    server: Name,
    subscription: EventSubscription,
    settings?: EventSubscribeSettings,
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
const STREAM: Names<EventStreamSelection> = { ...SELECTION, cursor: 1, maxAgeMs: [0] }
const SUBSCRIPTION: Names<EventSubscription> = {
  ...SELECTION,
  delivery: 'object',
  cursor: 1,
  ttlMs: 1,
  maxAgeMs: [0],
}

const DELIVERY: Names<EventSubscription['delivery']> = { url: 'string', secret: 'string' }

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
  const refreshes = new Refreshes()
  return {
    async list(server, settings) {
      refuseUnknown('The settings of events.list', settings, REQUEST_SETTINGS)
      return requestPages(servers.of(server), 'events/list', settings, readPage)
    },
    async poll(server, poll, settings) {
      requireOptions('events.poll', poll, POLL, 'name')
      return ask(server, 'events/poll', { cursor: null, ...poll }, settings, readPolled)
    },
    stream(server, selection, settings) {
      requireOptions('events.stream', selection, STREAM, 'name')
      refuseUnknown('The settings of events.stream', settings, STREAM_SETTINGS)
      checkTimeout('"timeoutMs" of events.stream', settings?.timeoutMs)
      checkCursors(settings?.cursors)
      return openEventStream(servers.of(server), selection, settings)
    },
    async subscribe(server, subscription, settings) {
      requireOptions('events.subscribe', subscription, SUBSCRIPTION, 'name', 'delivery')
      refuseUnknown('The settings of events.subscribe', settings, SUBSCRIBE_SETTINGS)
      const { delivery } = subscription
      requireOptions('"delivery" of events.subscribe', delivery, DELIVERY, 'url', 'secret')
      // A copy, since it may be sent again much later.
      const params = JSON.parse(
        JSON.stringify({ arguments: {}, ...subscription, delivery: { mode: 'webhook', ...delivery } }),
      ) as object
      const connection = servers.of(server)
      return refreshes.subscribe(connection, subscription, settings ?? {}, (cursor, given) => {
        // A server may quote it in an error.
        connection.secrets.learn(delivery.secret)
        return ask(server, 'events/subscribe', { ...params, cursor }, given, readSubscribed)
      })
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
      await refreshes.end(servers.of(server), subscription)
      await ask(server, 'events/unsubscribe', params, settings, () => true)
    },
  }
}
