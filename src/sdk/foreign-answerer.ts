/**
 * The answerer for a server of another SDK. A fresh server answers each message, and the answer is delivered like that of an `MCPServer`:
 * as JSON until there is something to stream, with keep-alives, and within the time limit. The engine handles everything else.
 */
import type { Era } from '../definition/context.ts'
import { toMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { canStream } from '../protocol/conditions.ts'
import { deadlineError, earliestEnd, type TimeLimit, watchCall } from '../protocol/deadline.ts'
import type { Answerer, RequestMessage } from '../protocol/engine.ts'
import type { CallLimits, Incoming } from '../protocol/engine-options.ts'
import { META } from '../protocol/envelope.ts'
import { toFailure } from '../protocol/failure.ts'
import { errorMessage, type RpcId, resultMessage } from '../protocol/json-rpc.ts'
import { createListenPlaces } from '../protocol/listen-places.ts'
import { isEventStream, readEvents } from '../protocol/read-events.ts'
import { jsonReply, type Reply } from '../protocol/reply.ts'
import { withinLimit } from '../protocol/response-limit.ts'
import { acceptedTypes, Exchange } from '../protocol/sse-response.ts'
import { expiryOf } from '../protocol/stream-expiry.ts'
import {
  isAnswerTo,
  isFailure,
  noteOutcome,
  parseSent,
  type Sent,
  toCall,
  visibleAnswer,
} from './foreign-call.ts'
import { type ForeignOptions, forward } from './forward.ts'
import { checkAccess, hiddenName } from './guarded.ts'
import { isListedNow } from './listed-now.ts'
import { closeQuietly, type ForeignAnswer, type ForeignCall, type RunForeign, unbroken } from './run.ts'
import { isServed } from './served-methods.ts'

const LISTEN = 'subscriptions/listen'

const NO_ANSWER = { code: ErrorCode.internal, message: 'Internal error: the server did not answer.' }

export function createForeignAnswerer(run: RunForeign, options: ForeignOptions): Answerer {
  const streams = new Set<ForeignListen>()
  const places = createListenPlaces(options)
  return {
    modernVersions: undefined,
    // Each message creates a new server.
    runs: () => true,
    answer(message, incoming) {
      incoming.facts.isListed = () => options.names.has(message.method, message.params.name)
      checkAccess(message.method, message.params, incoming.access, options.scopes)
      if (!isServed(message.method, options)) {
        throw (
          hiddenName(message.method, message.params, incoming.access, options.scopes) ??
          notServed(message.method, incoming.era)
        )
      }
      if (message.method !== LISTEN) return new ForeignRequest(message, incoming, run, options).answer()
      if (!canStream(incoming)) return jsonReply(listenEnd(message.id), 200, incoming.headers)
      const giveBack = places.take(urisOf(message), incoming, () => stream.finishWithResult())
      // Clients end a subscription by disconnecting, so this is a success.
      const listening = { ...incoming, onStreamEnd: () => incoming.onStreamEnd(200) }
      const stream = new ForeignListen(message, listening, run, options, () => {
        giveBack()
        streams.delete(stream)
      })
      streams.add(stream)
      return stream.answer()
    },
    accept(message, incoming) {
      if (message.kind === 'notification') {
        checkAccess(message.method, message.params, incoming.access, options.scopes)
        // Nobody waits for an answer: it is acknowledged, and dropped.
        if (!isServed(message.method, options)) return undefined
      }
      return forward(message, incoming, run, options)
    },
    close() {
      for (const stream of streams) stream.finishWithResult()
    },
  }
}

function notServed(method: string, era: Era): ProtocolError {
  return new ProtocolError(
    ErrorCode.methodNotFound,
    `Method not found: ${method}. If the server has it, its operator must name it in "methods" of fromSdk or fromNode.`,
    undefined,
    era === 'modern' ? { status: 404 } : {},
  )
}

/** One running request to a server of another SDK. It ends once. */
class ForeignRequest {
  protected readonly message: RequestMessage
  protected readonly incoming: Incoming
  readonly #run: RunForeign
  readonly #options: ForeignOptions
  readonly #over = new AbortController()
  /** Referenced for the whole request: Undici's Request drops its signal's listeners when it is collected (Node 20 and 24). */
  readonly #call: ForeignCall
  readonly #streams: boolean
  readonly #mustStream: boolean
  readonly #exchange: Exchange
  #answer: ForeignAnswer | undefined
  /** Whether the answer may be seen, if that takes a list of the server. */
  #deciding: Promise<void> | undefined
  #stopWatching = (): void => {}
  #isOver = false

  constructor(message: RequestMessage, incoming: Incoming, run: RunForeign, options: ForeignOptions) {
    const accepted = acceptedTypes(incoming.request.headers.get('accept'))
    this.message = message
    this.incoming = incoming
    this.#run = run
    this.#options = options
    this.#streams = canStream(incoming)
    this.#call = toCall(message, incoming, this.#over.signal, !this.#streams)
    this.#mustStream = accepted.mustStream
    this.#exchange = new Exchange({
      headers: incoming.headers,
      canStream: this.#streams,
      mustStream: this.#mustStream,
      maxStreamedBytes: incoming.platform.maxStreamedBytes,
      streamAfterMs: options.streamAfterMs,
      keepAliveMs: options.keepAliveMs,
      onDisconnect: () => this.#end(),
      onStreamEnd: incoming.onStreamEnd,
    })
  }

  answer(): Promise<Reply> {
    const { platform, request } = this.incoming
    const limit = earliestEnd(platform, this.#streams, this.limits(this.#options))
    this.#exchange.begin()
    this.#stopWatching = watchCall(request.signal, limit, this.#options, {
      onDisconnect: () => this.#exchange.abandon(),
      onExpire: () => this.expire(limit),
    })
    if (!this.#isOver) this.#serve().catch((error: unknown) => this.#fail(error))
    return this.#exchange.reply
  }

  /** The limits of the call. */
  protected limits(limits: CallLimits): CallLimits {
    return limits
  }

  protected expire(limit: TimeLimit): void {
    this.#fail(deadlineError(limit))
  }

  /** The message that is sent if the server ends without an answer. */
  protected withoutAnswer(): string {
    const { record, requestId } = this.incoming
    record.code = NO_ANSWER.code
    this.#options.reportError(new Error('The server ended without an answer.'), {
      requestId,
      method: record.method,
    })
    return errorMessage(this.message.id, NO_ANSWER)
  }

  protected finish(text: string, status = 200, headers?: { readonly [name: string]: string }): void {
    if (this.#isOver) return
    this.#end()
    const isStream = this.#exchange.isStreaming || (this.#streams && this.#mustStream)
    const limit = isStream ? this.#exchange.maxMessageBytes : this.incoming.platform.maxResponseBytes
    this.#exchange.finish(withinLimit(text, this.message.id, limit), status, headers)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopWatching()
    this.#over.abort()
    void closeQuietly(this.#answer)
    this.ended()
  }

  /** Called once, when the request is over. */
  protected ended(): void {}

  #fail(error: unknown): void {
    // Errors after the call was stopped are ignored.
    if (this.#isOver) return
    const { message, status, headers } = toFailure(
      error,
      this.message.id,
      this.incoming,
      this.#options.reportError,
    )
    this.finish(message, status, headers)
  }

  async #serve(): Promise<void> {
    const answer = await this.#run(this.#call)
    this.#answer = answer
    if (this.#isOver) return closeQuietly(answer)
    return unbroken(answer, this.#relay(answer))
  }

  async #relay({ response }: ForeignAnswer): Promise<void> {
    if (isEventStream(response) && response.body !== null) {
      await readEvents(response.body, (data) => this.#receive(data))
      await this.#deciding
      if (!this.#isOver) this.finish(this.withoutAnswer())
      return
    }
    const text = await response.text()
    const sent = parseSent(text)
    const challenge = response.headers.get('www-authenticate')
    if (sent === undefined) return this.finish(this.withoutAnswer(), response.status)
    this.#conclude(sent, text, response.status, challenge === null ? {} : { 'www-authenticate': challenge })
    await this.#deciding
  }

  /** Handles an event: the answer, or a message before it. Anything else is dropped. */
  #receive(data: string): void {
    const sent = parseSent(data)
    if (sent === undefined) return
    if (!isAnswerTo(sent, this.message.id)) {
      this.#exchange.notify(onOneLine(data, sent))
      return
    }
    this.#conclude(sent, data)
  }

  #conclude(sent: Sent, text: string, status?: number, headers?: { readonly [name: string]: string }): void {
    const { message, incoming } = this
    const { method, params } = message
    const { names, scopes } = this.#options
    noteOutcome(sent, incoming)
    names.learnAnswer(method, sent.result)
    const deliver = (): void => {
      const visible = visibleAnswer(sent, method, incoming, this.#options)
      this.finish(visible === sent ? onOneLine(text, sent) : JSON.stringify(visible), status, headers)
    }
    // An error of what may not exist.
    const hidden =
      isFailure(sent) && !names.has(method, params.name)
        ? hiddenName(method, params, incoming.access, scopes)
        : undefined
    if (hidden === undefined) {
      deliver()
      return
    }
    this.#deciding ??= isListedNow(message, incoming, this.#run, this.#over.signal).then((isListed) =>
      isListed ? deliver() : this.#fail(hidden),
    )
  }
}

/** Multi-line data would need several `data` fields in an event. */
function onOneLine(text: string, sent: Sent): string {
  return /[\r\n]/.test(text) ? JSON.stringify(sent) : text
}

/** A `subscriptions/listen` stream, which has its own limit and ends with its result. */
class ForeignListen extends ForeignRequest {
  readonly #onEnd: () => void

  constructor(
    message: RequestMessage,
    incoming: Incoming,
    run: RunForeign,
    options: ForeignOptions,
    onEnd: () => void,
  ) {
    super(message, incoming, run, options)
    this.#onEnd = onEnd
  }

  finishWithResult(): void {
    this.finish(this.withoutAnswer())
  }

  protected override limits(limits: CallLimits): CallLimits {
    const leftMs = expiryOf(this.incoming) - Date.now()
    // 0 would mean no limit.
    return { ...limits, maxCallMs: Math.max(1, Math.min(limits.maxListenMs, leftMs)) }
  }

  protected override expire(): void {
    this.finishWithResult()
  }

  protected override withoutAnswer(): string {
    return listenEnd(this.message.id)
  }

  protected override ended(): void {
    this.#onEnd()
  }
}

/** The URIs in a client's filter, if any. The server itself checks the filter. */
function urisOf({ params }: RequestMessage): readonly string[] {
  const { resourceSubscriptions: uris } = (params.notifications ?? {}) as { resourceSubscriptions?: unknown }
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
}

function listenEnd(id: RpcId): string {
  return resultMessage(id, toMembers({ resultType: 'complete', _meta: { [META.subscriptionId]: id } }))
}
