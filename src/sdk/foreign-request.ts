/** One running request to a server of another SDK, whose answer is delivered like that of an `MCPServer`. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { canStream } from '../protocol/conditions.ts'
import { deadlineError, earliestEnd, type TimeLimit, watchCall } from '../protocol/deadline.ts'
import type { CallLimits, Incoming } from '../protocol/engine-options.ts'
import { toFailure } from '../protocol/failure.ts'
import { errorMessage, type RequestMessage } from '../protocol/json-rpc.ts'
import { isEventStream, readEvents } from '../protocol/read-events.ts'
import type { Reply } from '../protocol/reply.ts'
import { withinLimit } from '../protocol/response-limit.ts'
import { acceptedTypes, Exchange } from '../protocol/sse-response.ts'
import {
  answerIn,
  describeAnswer,
  isFailure,
  noteOutcome,
  parseSent,
  type Sent,
  toCall,
  visibleAnswer,
} from './foreign-call.ts'
import { answerThrough, type ForeignMiddleware, isComplete } from './foreign-middleware.ts'
import type { ForeignOptions } from './forward.ts'
import { hiddenName } from './guarded.ts'
import { isListedNow } from './listed-now.ts'
import { closeQuietly, type ForeignAnswer, type ForeignCall, type RunForeign, unbroken } from './run.ts'

const NO_ANSWER = { code: ErrorCode.internal, message: 'Internal error: the server did not answer.' }

/** What the server has answered, which the middleware takes. */
interface Heard {
  readonly sent: Sent
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: string } | undefined
}

/** One running request to a server of another SDK. It ends once. */
export class ForeignRequest {
  protected readonly message: RequestMessage
  protected readonly incoming: Incoming
  readonly #run: RunForeign
  readonly #options: ForeignOptions
  readonly #over = new AbortController()
  /** Referenced for the whole request: Undici's Request drops its signal's listeners when it is collected (Node 20 and 24). */
  #call: ForeignCall
  readonly #streams: boolean
  readonly #mustStream: boolean
  readonly #exchange: Exchange
  #answer: ForeignAnswer | undefined
  /** Whether the answer may be seen, if that takes a list of the server. */
  #deciding: Promise<void> | undefined
  /** Takes the answer or the reason why there is none, if there is middleware around the call. */
  #hear: { readonly answer: (sent: Sent) => void; readonly end: (reason: unknown) => void } | undefined
  #heard: Heard | undefined
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
    if (!this.#isOver) this.#begin().catch((error: unknown) => this.#fail(error))
    return this.#exchange.reply
  }

  /** The limits of the call. */
  protected limits(limits: CallLimits): CallLimits {
    return limits
  }

  protected expire(limit: TimeLimit): void {
    this.#fail(deadlineError(limit))
  }

  /** The message that is sent if the server ends without an answer. `what` tells the operator what it sent instead. */
  protected withoutAnswer(what = 'The server ended without an answer.'): string {
    const { record, requestId } = this.incoming
    record.code = NO_ANSWER.code
    this.#options.reportError(new Error(what), {
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
    // Otherwise a middleware would wait forever for what its client no longer waits for.
    this.#hear?.end(this.#over.signal.reason)
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

  #begin(): Promise<void> {
    const { use } = this.#options
    return use === undefined || this.message.method !== 'tools/call' ? this.#serve() : this.#serveThrough(use)
  }

  async #serveThrough(use: readonly ForeignMiddleware[]): Promise<void> {
    const { incoming, message } = this
    const { signal } = this.#over
    const send = (changed: RequestMessage): Promise<Sent> =>
      new Promise((resolve, reject) => {
        if (this.#isOver) return reject(signal.reason)
        this.#hear = { answer: resolve, end: reject }
        this.#call = toCall(changed, incoming, signal, !this.#streams)
        this.#serve().catch(reject)
      })
    const sent = await answerThrough(use, message, incoming, signal, this.#options.reportError, send)
    if (this.#isOver) return
    incoming.facts.isToolError = false
    noteOutcome(sent, incoming)
    const heard = sent === this.#heard?.sent ? this.#heard : undefined
    this.finish(JSON.stringify(this.#visible(sent)), heard?.status, heard?.headers)
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
      if (!this.#isOver && this.#heard === undefined) this.#finishUnanswered()
      return
    }
    const text = await response.text()
    const parsed = parseSent(text)
    const sent = answerIn(parsed, this.message.id)
    const challenge = response.headers.get('www-authenticate')
    const isRefused = response.status >= 400
    if (sent === undefined) {
      const what = describeAnswer(response, this.incoming.request)
      return this.#finishUnanswered(what, isRefused ? response.status : 502)
    }
    // Clients take other statuses, such as 202, for "there is no answer".
    const status = isRefused ? response.status : 200
    const headers = challenge === null ? {} : { 'www-authenticate': challenge }
    this.#conclude(sent, sent === parsed ? text : JSON.stringify(sent), status, headers)
    await this.#deciding
  }

  #finishUnanswered(what?: string, status?: number): void {
    const text = this.withoutAnswer(what)
    if (this.#hear === undefined) this.finish(text, status)
    else
      this.#hear.end(
        new ProtocolError(NO_ANSWER.code, NO_ANSWER.message, undefined, status ? { status } : {}),
      )
  }

  /** Handles an event: the answer, or a message before it. Anything else is dropped. */
  #receive(data: string): void {
    const sent = parseSent(data)
    if (sent === undefined) return
    const answer = answerIn(sent, this.message.id)
    if (answer === undefined) this.#exchange.notify(onOneLine(data, sent))
    else this.#conclude(answer, answer === sent ? data : JSON.stringify(answer))
  }

  #visible(sent: Sent): Sent {
    return visibleAnswer(sent, this.message.method, this.incoming, this.#options)
  }

  #conclude(sent: Sent, text: string, status?: number, headers?: { readonly [name: string]: string }): void {
    const { message, incoming } = this
    const { method, params } = message
    const { names, scopes } = this.#options
    noteOutcome(sent, incoming)
    names.learnAnswer(method, sent.result)
    const deliver = (): void => {
      if (this.#hear !== undefined && isComplete(sent)) {
        this.#heard = { sent, status, headers }
        this.#hear.answer(sent)
        return
      }
      // The next round has a middleware of its own.
      this.#hear = undefined
      const visible = this.#visible(sent)
      this.finish(visible === sent ? onOneLine(text, sent) : JSON.stringify(visible), status, headers)
    }
    // An error of what may not exist. `names` does not tell: it has what the server lists to any of its callers.
    const hidden = isFailure(sent) ? hiddenName(method, params, incoming.access, scopes) : undefined
    if (hidden === undefined) {
      deliver()
      return
    }
    this.#deciding ??= isListedNow(message, incoming, this.#run, this.#over.signal).then((isListed) =>
      isListed ? deliver() : (this.#hear?.end ?? this.#fail.bind(this))(hidden),
    )
  }
}

/** Multi-line data would need several `data` fields in an event. */
function onOneLine(text: string, sent: Sent): string {
  return /[\r\n]/.test(text) ? JSON.stringify(sent) : text
}
