/**
 * Request-scoped notifications: progress, throttled, and log messages, filtered by level.
 */
import { LOG_LEVELS, type LogLevel, type Progress } from '../definition/context.ts'

/** Sends a notification on the response stream of the request. */
export type SendNotification = (method: string, params: Record<string, unknown>) => void

/** Minimum milliseconds between two progress notifications; the last one is always sent. */
const PROGRESS_INTERVAL_MS = 100

/** @throws TypeError */
export function checkProgress({ progress }: Progress): void {
  if (!Number.isFinite(progress)) throw new TypeError('progress must be a finite number.')
}

export class Notifier {
  readonly #send: SendNotification
  readonly #progressToken: string | number | undefined
  readonly #minimum: number
  #lastProgress = Number.NEGATIVE_INFINITY
  #held: Progress | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  /** @param logLevel If undefined, no log messages are sent, since the client requested none. */
  constructor(
    send: SendNotification,
    progressToken: string | number | undefined,
    logLevel: LogLevel | undefined,
  ) {
    this.#send = send
    this.#progressToken = progressToken
    this.#minimum = logLevel === undefined ? LOG_LEVELS.length : LOG_LEVELS.indexOf(logLevel)
  }

  reportProgress(progress: Progress): void {
    if (this.#progressToken === undefined || this.#isClosed) return
    checkProgress(progress)
    // "The progress value MUST increase with each notification" (MCP, "Progress Flow").
    if (progress.progress <= (this.#held?.progress ?? this.#lastProgress)) return
    if (this.#timer !== undefined) {
      this.#held = progress
      return
    }
    this.#sendProgress(progress)
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    if (this.#isClosed || LOG_LEVELS.indexOf(level) < this.#minimum) return
    this.#send('notifications/message', { level, ...(logger !== undefined && { logger }), data })
  }

  /** Sends any other notification unchanged. */
  send(method: string, params: Record<string, unknown>): void {
    if (!this.#isClosed) this.#send(method, params)
  }

  /** Sends delayed progress; afterwards nothing is sent. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#held !== undefined && !this.#isClosed) this.#sendProgress(this.#held)
    clearTimeout(this.#timer)
    this.#isClosed = true
  }

  #sendProgress({ progress, total, message }: Progress): void {
    this.#held = undefined
    this.#lastProgress = progress
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#held !== undefined) this.#sendProgress(this.#held)
    }, PROGRESS_INTERVAL_MS)
    this.#send('notifications/progress', {
      progressToken: this.#progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    })
  }
}
