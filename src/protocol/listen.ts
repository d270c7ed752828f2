/**
 * `subscriptions/listen`: a stream that first sends an acknowledgement, then the change events that pass the filter, and ends with a
 * result before the platform would cut it off (MCP 2026-07-28, "Subscriptions").
 */

import type { Meta } from '../definition/content.ts'
import { isA } from '../definition/error-text.ts'
import { toMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { type Subscription, subscribe, toNotification, wantedBy } from '../events/coalesced-changes.ts'
import { honoured, parseFilter } from '../events/listen-filter.ts'
import { advertise } from '../interaction/advertise.ts'
import { MAX_TIMER_MS } from '../interaction/rendezvous.ts'
import { subscribable } from '../request/resources.ts'
import { TASK_URI } from '../request/task-support.ts'
import type { Call } from './call.ts'
import { conditionsOf, definitionOf } from './conditions.ts'
import type { EngineOptions, Incoming, OpenStream, StreamTexts } from './engine-options.ts'
import { META } from './envelope.ts'
import { toGatewayMessage } from './gateway-message.ts'
import { notificationMessage, resultMessage } from './json-rpc.ts'
import { createListenPlaces } from './listen-places.ts'
import { jsonReply, type Reply } from './reply.ts'
import { KEEP_ALIVE, SSE_HEADERS, sseEvent } from './sse-response.ts'
import { expiryOf } from './stream-expiry.ts'

export type ServeListen = (call: Call, incoming: Incoming) => Reply | Promise<Reply>

export interface Listen {
  readonly serve: ServeListen
  readonly open: OpenStream
  /** Ends every open stream with its result. */
  close(): void
}

const DOWN = 'The bus does not answer: try again later.'
export function createListen(options: EngineOptions): Listen {
  const { feed } = options
  const streams = new Set<ListenStream>()
  const places = createListenPlaces(options)
  /** How often the server was closed: a stream that is opening at that time ends, too. */
  let closings = 0

  const serve = async (call: Call, incoming: Incoming): Promise<Reply> => {
    const { id } = call
    const definition = definitionOf(incoming, options)
    const meta = { [META.subscriptionId]: id }
    const conditions = conditionsOf(call, incoming, options)
    const given = parseFilter(call.params.notifications)
    const tasks = await options.tasks?.listen(given, {
      ...call,
      auth: incoming.auth,
      access: incoming.access,
      hasBus: conditions.hasBus,
    })
    const offered = honoured(given, advertise(definition, conditions))
    const { resourceSubscriptions: asked = [], ...lists } = offered
    // URIs of tasks have owners, unlike resources.
    const resources = asked.filter((uri) => !uri.startsWith(TASK_URI))
    const uris = await subscribable(definition.resources, resources, incoming)
    // With an empty filter the stream could never deliver anything.
    const filter = uris.length > 0 ? { ...lists, resourceSubscriptions: uris } : lists
    const acknowledged = sseEvent(
      notificationMessage('notifications/subscriptions/acknowledged', {
        notifications: { ...filter, ...tasks?.filter },
        _meta: meta,
      }),
    )
    const ended = resultMessage(
      id,
      toMembers({ resultType: 'complete', _meta: { ...meta, [META.serverInfo]: definition.serverInfo } }),
    )
    if (!conditions.canStream) return jsonReply(ended, 200, incoming.headers)
    const headers = { ...incoming.headers, ...SSE_HEADERS }
    const wanted = wantedBy(filter, tasks?.uris)
    if (!conditions.hasBus || wanted.size === 0) {
      incoming.onStreamEnd(200)
      return new Response(acknowledged + sseEvent(ended), { headers })
    }
    const texts = { acknowledged, ended: sseEvent(ended), meta, translate: options.tasks?.translate }
    const message = toGatewayMessage(call, incoming)
    const join = options.gateway?.join(feed.join, wanted.keys(), definition, message, options)
    const reply = await open(wanted, texts, incoming, join)
    // Also reports tasks that changed just before.
    for (const uri of tasks?.uris ?? []) void options.publish({ type: 'resourceUpdated', uri })
    return reply
  }

  const open: OpenStream = async (wanted, texts, incoming, join = feed.join) => {
    // Taken before it subscribes: otherwise concurrent requests would exceed the limit.
    let opened: ListenStream | undefined
    const giveBack = places.take(wanted.keys(), incoming, () => opened?.finish())
    const closingsBefore = closings
    const subscription = await subscribe(join, wanted).catch((cause) => {
      giveBack()
      // A server behind a gateway has no place for it.
      if (isA(cause, ProtocolError) && cause.status === 429) throw cause
      throw new ProtocolError(ErrorCode.internal, DOWN, undefined, { status: 503, cause })
    })
    const onEnd = (): void => {
      giveBack()
      streams.delete(stream)
      // Clients end a subscription by disconnecting, so this is a success.
      incoming.onStreamEnd(200)
    }
    const stream = new ListenStream(subscription, texts, incoming, options, onEnd)
    opened = stream
    streams.add(stream)
    stream.begin()
    if (closings > closingsBefore) stream.finish()
    return new Response(stream.read(), { headers: { ...incoming.headers, ...SSE_HEADERS } })
  }

  return {
    serve,
    open,
    close: () => {
      closings++
      for (const stream of streams) stream.finish()
    },
  }
}

/** An open stream. Ends when its client disconnects, or with its result when its time is up or the server closes. */
class ListenStream {
  readonly #subscription: Subscription
  readonly #meta: Meta | undefined
  readonly #ended: string
  readonly #translate: StreamTexts['translate']
  readonly #keepAliveMs: number
  readonly #onEnd: () => void
  readonly #signal: AbortSignal
  readonly #encoder = new TextEncoder()
  #endsAt: number
  #isOpen = true
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Sent first. */
  #acknowledged: string | undefined
  /** The result, for a client that still reads after its time is up. */
  #late: string | undefined

  constructor(
    subscription: Subscription,
    { acknowledged, ended, meta, translate }: StreamTexts,
    { request: { signal }, platform: { deadline = Number.POSITIVE_INFINITY }, auth }: Incoming,
    { maxListenMs, deadlineMarginMs, keepAliveMs }: EngineOptions,
    onEnd: () => void,
  ) {
    this.#subscription = subscription
    this.#meta = meta
    this.#acknowledged = acknowledged
    this.#ended = ended
    this.#translate = translate
    this.#keepAliveMs = keepAliveMs
    this.#onEnd = () => {
      signal.removeEventListener('abort', this.#close)
      onEnd()
    }
    // NaN would never be reached.
    this.#endsAt = Math.min(Date.now() + maxListenMs, deadline - deadlineMarginMs, expiryOf({ auth })) || 0
    this.#signal = signal
  }

  /** Detects a client that disconnects or does not read: its stream ends one keep-alive after its time is up. */
  begin(): void {
    if (this.#signal.aborted) {
      this.#close()
      return
    }
    this.#signal.addEventListener('abort', this.#close)
    this.#closeIn(this.#endsAt - Date.now() + this.#keepAliveMs)
  }

  #closeIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        this.#late = this.#ended
        this.#close()
      },
      Math.min(Math.max(0, ms), MAX_TIMER_MS),
    )
  }

  /** Pulled by the reader: the listening request writes each event, whichever request published it. */
  read(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        // Not stored, since it is as long as the filter.
        const acknowledged = this.#acknowledged
        this.#acknowledged = undefined
        const text = acknowledged ?? (await this.#next())
        if (text) controller.enqueue(this.#encoder.encode(text))
        if (!this.#isOpen) controller.close()
      },
      cancel: () => this.#close(),
    })
  }

  /** Ends the stream with its result, immediately. */
  finish(): void {
    this.#endsAt = 0
    if (this.#isOpen) this.#closeIn(this.#keepAliveMs)
    this.#subscription.wake()
  }

  async #next(): Promise<string | undefined> {
    const waitMs = Math.max(0, Math.min(this.#keepAliveMs, this.#endsAt - Date.now()))
    // Queued changes are still sent, but no new ones: otherwise a slow reader of frequent changes would keep it open forever.
    if (waitMs === 0) this.#subscription.leave()
    const changed = this.#isOpen ? await this.#subscription.next(waitMs) : undefined
    if (!this.#isOpen) return this.#late
    if (changed !== undefined) {
      const translated = await this.#translate?.(changed)
      // The task has expired or cannot be read now; its name on the bus is not sent to clients.
      if (translated === undefined && String(changed).startsWith(TASK_URI)) return KEEP_ALIVE
      const { method, params } = translated ?? toNotification(changed)
      return sseEvent(notificationMessage(method, { ...params, ...(this.#meta && { _meta: this.#meta }) }))
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
