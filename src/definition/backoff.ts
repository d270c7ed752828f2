/**
 * Delays between attempts that fail: doubled after each failure in a row, up to a limit.
 */

export interface Backoff {
  /** Milliseconds after the first failure. */
  readonly firstMs: number
  readonly maxMs: number
}

/** Milliseconds to wait after this many failures in a row, 1 or more. */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs)
}

export interface Retry {
  /** Calls the attempt after the next delay. */
  later(): void
  /** The next delay is the first again. */
  reset(): void
  /** No further attempt begins. */
  stop(): void
}

/** @param spread returns the delay that is waited, in milliseconds. */
export function createRetry(
  attempt: () => unknown,
  backoff: Backoff,
  spread: (delayMs: number) => number = (delayMs) => delayMs,
): Retry {
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  return {
    later() {
      failures++
      if (!isStopped) timer = setTimeout(attempt, spread(backoffMs(failures, backoff)))
    },
    reset() {
      failures = 0
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
