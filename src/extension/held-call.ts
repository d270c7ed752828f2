/** A method of an extension that streams: its call is checked and begun like any other, and its response held like that of `subscriptions/listen`. */
import { textOf } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Compose, RunningCall } from '../protocol/answer.ts'
import type { Call } from '../protocol/call.ts'
import { canStream } from '../protocol/conditions.ts'
import type { EngineOptions, Incoming } from '../protocol/engine-options.ts'
import { toFailure } from '../protocol/failure.ts'
import type { HeldSource } from '../protocol/held-stream.ts'
import { notificationMessage } from '../protocol/json-rpc.ts'
import type { Hold } from '../protocol/listen.ts'
import type { Reply } from '../protocol/reply.ts'
import { sseEvent } from '../protocol/sse-response.ts'
import type { HeaderCheck } from '../request/header-check.ts'
import type { MethodResult } from '../request/method-result.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'

/** A stream that has begun: what it sends is asked for, one by one. */
export interface Begun {
  /** @throws what its code threw. */
  next(): Promise<{ readonly method: string; readonly params: object } | { readonly result: MethodResult }>
  /** Ends its code: nothing more is asked for. Never rejects. */
  end(): void
}

/** Checks everything, and begins a stream. */
export type Begin = (scope: RequestScope, params: Params, headers?: HeaderCheck) => Promise<Begun>

/** Milliseconds after which a stream opens that has sent nothing yet. */
const FIRST_MS = 2000
/** Milliseconds for the last result of a stream, at most: half of what is left before the platform ends it. */
const GRACE_MS = 500

/** Notifications that are sent with the last result, at most. */
const MAX_LAST = 100

const BUFFERED =
  'This response cannot be streamed: the platform or the client takes only a buffered response.'
const OVER = 'The time of this stream is over: open it again.'

/** What its code sends besides is dropped: the stream does not exist yet. */
class HeldCall extends RunningCall {
  override send(): void {}
}

/** Checks and begins the call like any other, and holds its response. */
export function createHold(begin: Begin): Hold {
  return async (call, incoming, options, compose, reserve) => {
    let held: Reply | undefined
    const running = new HeldCall(
      call,
      // Until the stream is open, there is none that could end.
      { ...incoming, onStreamEnd: () => {} },
      { ...options, streamAfterMs: MAX_TIMER_MS },
      compose,
    )
    const answered = await running.answer(async (scope, params, _options, headers) => {
      const begun = await begin(scope, params, headers)
      const place = await reserve([], incoming)
      const source = new Notifications(begun, scope, call, incoming, options, compose)
      try {
        const first = await source.first()
        if (typeof first === 'object') {
          place.giveBack()
          return first
        }
        if (first !== undefined && !canStream(incoming))
          throw new ProtocolError(ErrorCode.internal, BUFFERED, { feature: 'streaming' })
        // Its client has left.
        scope.context.signal.throwIfAborted()
        held = place.begin(source, first)
        return UNUSED
      } catch (error) {
        source.close()
        place.giveBack()
        throw error
      }
    })
    return held ?? answered
  }
}

/** The answer of a call whose response is held instead. */
const UNUSED: MethodResult = { members: '' as MethodResult['members'] }

/** What the code of a stream sends. */
class Notifications implements HeldSource {
  isOver = false
  #isLeaving = false
  readonly #begun: Begun
  readonly #scope: RequestScope
  readonly #call: Call
  readonly #incoming: Incoming
  readonly #options: EngineOptions
  readonly #compose: Compose
  /** What was asked for and is not there yet. */
  #asked: ReturnType<Begun['next']> | undefined
  #wake: (() => void) | undefined

  constructor(
    begun: Begun,
    scope: RequestScope,
    call: Call,
    incoming: Incoming,
    options: EngineOptions,
    compose: Compose,
  ) {
    this.#begun = begun
    this.#scope = scope
    this.#call = call
    this.#incoming = incoming
    this.#options = options
    this.#compose = compose
  }

  get late(): string {
    return this.#failed(new ProtocolError(ErrorCode.internal, OVER, { limit: 'maxListenMs' }))
  }

  /** The result if there is no notification, or the first one; undefined if there is none yet. @throws what its code threw. */
  async first(): Promise<MethodResult | string | undefined> {
    const step = await this.#step(FIRST_MS)
    if (step === undefined) return undefined
    return 'result' in step ? step.result : toEvent(step)
  }

  /** Nothing once the time is over: what its code still sends is a part of the end. */
  async next(waitMs: number): Promise<string | undefined> {
    return this.#isLeaving ? undefined : this.#take(waitMs)
  }

  async #take(waitMs: number): Promise<string | undefined> {
    try {
      const step = await this.#step(waitMs)
      if (step === undefined) return undefined
      if (!('result' in step)) return toEvent(step)
      this.isOver = true
      return sseEvent(this.#compose(step.result, this.#scope, this.#call))
    } catch (error) {
      this.isOver = true
      return this.#failed(error)
    }
  }

  wake(): void {
    this.#wake?.()
  }

  leave(): void {
    this.#isLeaving = true
    this.#scope.context.abort(() => new DOMException(OVER, 'TimeoutError'))
  }

  /** Its code learns from `ctx.signal` that the time is over, and has a moment to return its result. */
  async ended(): Promise<string> {
    this.leave()
    const until = Date.now() + Math.min(GRACE_MS, this.#options.deadlineMarginMs / 2)
    let text = ''
    for (let left = MAX_LAST; left > 0 && !this.isOver && Date.now() < until; left--)
      text += (await this.#take(until - Date.now())) ?? ''
    return this.isOver ? text : text + this.late
  }

  close(): void {
    this.#scope.context.abort(() => new DOMException('The stream has ended.', 'AbortError'))
    this.#begun.end()
    this.wake()
  }

  /** The next step of its code; undefined after `waitMs` milliseconds. */
  async #step(waitMs: number): Promise<Awaited<ReturnType<Begun['next']>> | undefined> {
    this.#asked ??= this.#begun.next()
    const asked = this.#asked
    let timer: ReturnType<typeof setTimeout> | undefined
    const waited = new Promise<undefined>((resolve) => {
      const end = (): void => resolve(undefined)
      this.#wake = end
      timer = setTimeout(end, waitMs)
    })
    try {
      const step = await Promise.race([asked, waited])
      if (step !== undefined) this.#asked = undefined
      return step
    } finally {
      clearTimeout(timer)
      this.#wake = undefined
    }
  }

  #failed(error: unknown): string {
    const { context } = this.#scope
    const known = context.isStoppedBy(error) ? new ProtocolError(ErrorCode.internal, textOf(error)) : error
    return sseEvent(toFailure(known, this.#call.id, this.#incoming, this.#options.reportError).message)
  }
}

function toEvent({ method, params }: { readonly method: string; readonly params: object }): string {
  return sseEvent(notificationMessage(method, params as { [name: string]: unknown }))
}
