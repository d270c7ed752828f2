/**
 * `subscriptions/listen`: a stream that first sends an acknowledgement, then the change events that pass the filter, and ends with a
 * result before the platform would cut it off (MCP 2026-07-28, "Subscriptions").
 */

import type { Meta } from '../definition/content.ts'
import { toMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import {
  honoured,
  parseFilter,
  type Subscription,
  subscribe,
  toNotification,
} from '../events/subscription.ts'
import { advertise } from '../interaction/matrix.ts'
import { MAX_TIMER_MS } from '../interaction/rendezvous.ts'
import { mayRead } from '../request/resources.ts'
import type { Call } from './call.ts'
import { conditionsOf } from './conditions.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { META } from './envelope.ts'
import { SSE_HEADERS, sseEvent } from './exchange.ts'
import { notificationMessage, resultMessage } from './json-rpc.ts'
import { jsonReply, type Reply } from './reply.ts'

export type ServeListen = (call: Call, incoming: Incoming) => Reply | Promise<Reply>

export interface Listen {
  readonly serve: ServeListen
  /** Ends every open stream with its result. */
  close(): void
}

const DOWN = 'The bus does not answer, so changes cannot be delivered now: try again later.'
const KEEP_ALIVE = ': keep-alive\n\n'

export function createListen(options: EngineOptions): Listen {
  const { definition, bus, feed } = options
  const streams = new Set<ListenStream>()
  let opening = 0
  /** How often the server was closed: a stream that was opening meanwhile ends, too. */
  let closings = 0

  const serve = async (call: Call, incoming: Incoming): Promise<Reply> => {
    const { id } = call
    const meta = { [META.subscriptionId]: id }
    const conditions = conditionsOf(call, incoming, options)
    const filter = honoured(parseFilter(call.params.notifications), advertise(definition, conditions))
    if (filter.resourceSubscriptions !== undefined) {
      filter.resourceSubscriptions = filter.resourceSubscriptions.filter((uri) =>
        mayRead(definition.resources, incoming.access, uri),
      )
      // Otherwise a stream would be held open that can never deliver anything.
      if (filter.resourceSubscriptions.length === 0) delete filter.resourceSubscriptions
    }
    const acknowledged = sseEvent(
      notificationMessage('notifications/subscriptions/acknowledged', { notifications: filter, _meta: meta }),
    )
    const ended = resultMessage(
      id,
      toMembers({ resultType: 'complete', _meta: { ...meta, [META.serverInfo]: definition.serverInfo } }),
    )
    if (!conditions.canStream) return jsonReply(ended, 200, incoming.headers)
    const headers = { ...incoming.headers, ...SSE_HEADERS }
    if (bus === undefined || Object.keys(filter).length === 0) {
      incoming.onStreamEnd(200)
      return new Response(acknowledged + sseEvent(ended), { headers })
    }
    if (streams.size + opening >= options.maxListenStreams) throw tooManyStreams(options.maxListenStreams)
    // Counted while it subscribes: otherwise many at once would exceed the limit.
    opening++
    const closingsBefore = closings
    const subscription = await subscribe(feed.join, filter)
      .catch((cause) => {
        throw new ProtocolError(ErrorCode.internal, DOWN, undefined, { status: 503, cause })
      })
      .finally(() => opening--)
    const onEnd = (): void => {
      streams.delete(stream)
      // Clients end a subscription by disconnecting, so this is a success.
      incoming.onStreamEnd(200)
    }
    const stream = new ListenStream(subscription, meta, sseEvent(ended), incoming, options, onEnd)
    streams.add(stream)
    stream.begin()
    if (closings > closingsBefore) stream.finish()
    return new Response(stream.read(acknowledged), { headers })
  }

  return {
    serve,
    close: () => {
      closings++
      for (const stream of streams) stream.finish()
    },
  }
}

/** One open stream. Ends when its client disconnects; ends with its result when its time is up or the server closes. */
class ListenStream {
  readonly #subscription: Subscription
  readonly #meta: Meta
  readonly #ended: string
  readonly #keepAliveMs: number
  readonly #onEnd: () => void
  readonly #signal: AbortSignal
  readonly #encoder = new TextEncoder()
  #endsAt: number
  #isOpen = true
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The result, for a client that reads on after its time was up. */
  #late: string | undefined

  constructor(
    subscription: Subscription,
    meta: Meta,
    ended: string,
    { request: { signal }, platform: { deadline = Number.POSITIVE_INFINITY }, auth }: Incoming,
    { maxListenMs, deadlineMarginMs, keepAliveMs }: EngineOptions,
    onEnd: () => void,
  ) {
    this.#subscription = subscription
    this.#meta = meta
    this.#ended = ended
    this.#keepAliveMs = keepAliveMs
    this.#onEnd = () => {
      signal.removeEventListener('abort', this.#close)
      onEnd()
    }
    // A stream does not outlive the token that it was opened with.
    const expiresAt = (auth?.expiresAt ?? Number.POSITIVE_INFINITY) * 1000
    this.#endsAt = Math.min(Date.now() + maxListenMs, deadline - deadlineMarginMs, expiresAt)
    this.#signal = signal
  }

  /** Watches for the client to disconnect, and for one that does not read: its stream ends one keep-alive after its time is up. */
  begin(): void {
    if (this.#signal.aborted) {
      this.#close()
      return
    }
    this.#signal.addEventListener('abort', this.#close)
    const leftMs = this.#endsAt - Date.now() + this.#keepAliveMs
    this.#timer = setTimeout(
      () => {
        this.#late = this.#ended
        this.#close()
      },
      Math.min(Math.max(0, leftMs), MAX_TIMER_MS),
    )
  }

  /** Pulled by the reader: each event is written by the listening request, whichever request published it. */
  read(acknowledged: string): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(this.#encoder.encode(acknowledged)),
      pull: async (controller) => {
        const text = await this.#next()
        if (text !== undefined) controller.enqueue(this.#encoder.encode(text))
        if (!this.#isOpen) controller.close()
      },
      cancel: () => this.#close(),
    })
  }

  /** Ends the stream with its result, at once. */
  finish(): void {
    this.#endsAt = 0
    this.#subscription.wake()
  }

  async #next(): Promise<string | undefined> {
    const waitMs = Math.max(0, Math.min(this.#keepAliveMs, this.#endsAt - Date.now()))
    // What waits is still sent, but nothing new: otherwise a slow reader of frequent changes would keep it open for ever.
    if (waitMs === 0) this.#subscription.leave()
    const event = this.#isOpen ? await this.#subscription.next(waitMs) : undefined
    if (!this.#isOpen) return this.#late
    if (event !== undefined) {
      const { method, params } = toNotification(event)
      return sseEvent(notificationMessage(method, { ...params, _meta: this.#meta }))
    }
    if (Date.now() < this.#endsAt) return KEEP_ALIVE
    this.#close()
    return this.#ended
  }

  readonly #close = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#subscription.close()
    this.#onEnd()
  }
}

/** The error for `subscriptions/listen` of any server. HTTP status 503. */
export function tooManyStreams(limit: number): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    `This server has ${limit} open subscriptions, which is its limit: try again later.`,
    { limit: 'maxListenStreams' },
    { status: 503 },
  )
}
