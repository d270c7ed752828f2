/**
 * A response that stays open and sends what happens: `subscriptions/listen`, and the streams of extensions. It ends with its result before
 * the platform would cut it off.
 */
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'
import { KEEP_ALIVE } from './sse-response.ts'
import { expiryOf } from './stream-expiry.ts'

/** What a stream sends. Its messages are events of SSE. */
export interface HeldSource {
  /** Resolves with the next text, or with undefined after `waitMs` milliseconds. */
  next(waitMs: number): Promise<string | undefined>
  /** Whether the last text was the end. */
  readonly isOver?: boolean
  /** Ends the wait for the next text immediately. */
  wake(): void
  /** Accepts nothing new; what is there already stays. */
  leave(): void
  /** The last text, once the time is up. */
  ended(): string | Promise<string>
  /** The same for a client that still reads after the stream was closed. */
  readonly late: string
  close(): void
}

/** Ends when its client disconnects, or with its result when its time is up or the server closes. */
export class HeldStream {
  readonly #source: HeldSource
  readonly #keepAliveMs: number
  readonly #onEnd: () => void
  readonly #signal: AbortSignal
  readonly #encoder = new TextEncoder()
  #endsAt: number
  #isOpen = true
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Sent first. */
  #first: string | undefined
  #isLate = false

  constructor(
    source: HeldSource,
    first: string | undefined,
    { request: { signal }, platform: { deadline = Number.POSITIVE_INFINITY }, auth }: Incoming,
    { maxListenMs, deadlineMarginMs, keepAliveMs }: EngineOptions,
    onEnd: () => void,
  ) {
    this.#source = source
    this.#first = first
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
        this.#isLate = true
        this.#close()
      },
      Math.min(Math.max(0, ms), MAX_TIMER_MS),
    )
  }

  /** Pulled by the reader: the request of the stream writes each text, whichever request caused it. */
  read(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        // Not stored, since it may be long.
        const first = this.#first
        this.#first = undefined
        const text = first ?? (await this.#next())
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
    this.#source.wake()
  }

  async #next(): Promise<string | undefined> {
    const waitMs = Math.max(0, Math.min(this.#keepAliveMs, this.#endsAt - Date.now()))
    // Queued messages are still sent, but no new ones: otherwise a slow reader of frequent changes would keep it open forever.
    if (waitMs === 0) this.#source.leave()
    const text = this.#isOpen ? await this.#source.next(waitMs) : undefined
    if (!this.#isOpen) return this.#isLate ? this.#source.late : undefined
    if (text !== undefined) {
      if (this.#source.isOver) this.#close()
      return text
    }
    if (Date.now() < this.#endsAt) return KEEP_ALIVE
    const ended = await this.#source.ended()
    this.#close()
    return ended
  }

  readonly #close = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#source.close()
    this.#onEnd()
  }
}
