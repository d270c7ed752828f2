/**
 * `subscriptions/listen`: a stream that first sends an acknowledgement, then the change events that pass the filter, and ends with a
 * result before the platform would cut it off (MCP 2026-07-28, "Subscriptions").
 */

import { isA } from '../definition/error-text.ts'
import { toMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import {
  type Key,
  type Subscription,
  subscribe,
  toNotification,
  wantedBy,
} from '../events/coalesced-changes.ts'
import { honoured, parseFilter } from '../events/listen-filter.ts'
import { advertise } from '../interaction/advertise.ts'
import { EXTENSION_URI } from '../request/extension.ts'
import { subscribable } from '../request/resources.ts'
import type { Compose } from './answer.ts'
import type { Call } from './call.ts'
import { conditionsOf, definitionOf } from './conditions.ts'
import type { EngineOptions, Incoming, OpenStream, StreamTexts } from './engine-options.ts'
import { META } from './envelope.ts'
import { toGatewayMessage } from './gateway-message.ts'
import { type HeldSource, HeldStream } from './held-stream.ts'
import { notificationMessage, resultMessage } from './json-rpc.ts'
import { createListenPlaces } from './listen-places.ts'
import { jsonReply, type Reply } from './reply.ts'
import { KEEP_ALIVE, SSE_HEADERS, sseEvent } from './sse-response.ts'

export type ServeListen = (call: Call, incoming: Incoming) => Reply | Promise<Reply>

export interface Listen {
  readonly serve: ServeListen
  readonly open: OpenStream
  readonly reserve: Reserve
  /** Ends every open stream with its result. */
  close(): void
}

/** Places of streams, within the limits for all of them. @throws ProtocolError if there is none. */
export type Reserve = (keys: Iterable<Key>, incoming: Incoming) => HeldPlace | Promise<HeldPlace>

export interface HeldPlace {
  begin(source: HeldSource, first: string | undefined): Reply
  giveBack(): void
}

/** What holds the response of a call open, for the methods of extensions that stream. */
export type Hold = (
  call: Call,
  incoming: Incoming,
  options: EngineOptions,
  compose: Compose,
  reserve: Reserve,
) => Promise<Reply>

const DOWN = 'The bus does not answer: try again later.'
export function createListen(options: EngineOptions): Listen {
  const { feed } = options
  const streams = new Set<HeldStream>()
  const places = createListenPlaces(options)
  /** How often the server was closed: a stream that is opening at that time ends, too. */
  let closings = 0

  const serve = async (call: Call, incoming: Incoming): Promise<Reply> => {
    const { id } = call
    const definition = definitionOf(incoming, options)
    const meta = { [META.subscriptionId]: id }
    const conditions = conditionsOf(call, incoming, options)
    const given = parseFilter(call.params.notifications)
    const others =
      (await options.extensions?.listen(given, {
        ...call,
        auth: incoming.auth,
        access: incoming.access,
        hasBus: conditions.hasBus,
      })) ?? []
    const offered = honoured(given, advertise(definition, conditions))
    const { resourceSubscriptions: asked = [], ...lists } = offered
    const resources = asked.filter((uri) => !uri.startsWith(EXTENSION_URI))
    const uris = await subscribable(definition.resources, resources, incoming)
    // With an empty filter the stream could never deliver anything.
    const filter = uris.length > 0 ? { ...lists, resourceSubscriptions: uris } : lists
    const acknowledged = sseEvent(
      notificationMessage('notifications/subscriptions/acknowledged', {
        notifications: Object.assign({}, filter, ...others.map((one) => one.filter)),
        _meta: meta,
      }),
    )
    const ended = resultMessage(
      id,
      toMembers({ resultType: 'complete', _meta: { ...meta, [META.serverInfo]: definition.serverInfo } }),
    )
    if (!conditions.canStream) return jsonReply(ended, 200, incoming.headers)
    const headers = { ...incoming.headers, ...SSE_HEADERS }
    const wanted = wantedBy(
      filter,
      others.flatMap(({ uris }) => uris),
    )
    if (!conditions.hasBus || wanted.size === 0) {
      incoming.onStreamEnd(200)
      return new Response(acknowledged + sseEvent(ended), { headers })
    }
    const texts = { acknowledged, ended: sseEvent(ended), meta, translate: options.extensions?.translate }
    const message = toGatewayMessage(call, incoming)
    const join = options.gateway?.join(feed.join, wanted.keys(), definition, message, options)
    const reply = await open(wanted, texts, incoming, join)
    // Also reports what changed just before.
    for (const { now = [] } of others)
      for (const uri of now) void options.publish({ type: 'resourceUpdated', uri })
    return reply
  }

  /** Takes a place for a stream. Returns what begins it, and what gives the place back. */
  const reserve = (keys: Iterable<Key>, incoming: Incoming): HeldPlace => {
    let stream: HeldStream | undefined
    const giveBack = places.take(keys, incoming, () => stream?.finish())
    const closingsBefore = closings
    const begin = (source: HeldSource, first: string | undefined): Reply => {
      const opened = new HeldStream(source, first, incoming, options, () => {
        giveBack()
        streams.delete(opened)
        // Clients end a stream by disconnecting, so this is a success.
        incoming.onStreamEnd(200)
      })
      stream = opened
      streams.add(opened)
      opened.begin()
      if (closings > closingsBefore) opened.finish()
      return new Response(opened.read(), { headers: { ...incoming.headers, ...SSE_HEADERS } })
    }
    return { begin, giveBack }
  }

  const open: OpenStream = async (wanted, texts, incoming, join = feed.join) => {
    // Taken before it subscribes: otherwise concurrent requests would exceed the limit.
    const { begin, giveBack } = reserve(wanted.keys(), incoming)
    const subscription = await subscribe(join, wanted).catch((cause) => {
      giveBack()
      // A server behind a gateway has no place for it.
      if (isA(cause, ProtocolError) && cause.status === 429) throw cause
      throw new ProtocolError(ErrorCode.internal, DOWN, undefined, { status: 503, cause })
    })
    return begin(changesOf(subscription, texts), texts.acknowledged)
  }

  return {
    serve,
    open,
    reserve,
    close: () => {
      closings++
      for (const stream of streams) stream.finish()
    },
  }
}

/** The changes of a subscription, each as its notification. */
function changesOf(subscription: Subscription, { ended, meta, translate }: StreamTexts): HeldSource {
  return {
    ...subscription,
    async next(waitMs) {
      const changed = await subscription.next(waitMs)
      if (changed === undefined) return undefined
      const translated = await translate?.(changed)
      // There is nothing to tell now; the name on the bus is not sent to clients.
      if (translated === undefined && String(changed).startsWith(EXTENSION_URI)) return KEEP_ALIVE
      const { method, params } = translated ?? toNotification(changed)
      return sseEvent(notificationMessage(method, { ...params, ...(meta && { _meta: meta }) }))
    },
    ended: () => ended,
    late: ended,
  }
}
