/** Waits until the result, the deadline, or the caller's abort. */

export interface Deadline {
  readonly timeoutMs: number
  /** The caller's own signals. */
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** Milliseconds so far that do not count against the deadline. */
  readonly pausedMs?: () => number
  /** Creates the error for the deadline. */
  onTimeout(): Error
}

/**
 * Runs `work` and settles at the deadline at the latest, and then aborts its signal. After `work` has settled, the signal no longer
 * changes.
 */
export async function withDeadline<T>(
  { timeoutMs, signals = [], pausedMs = () => 0, onTimeout }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const present = signals.filter((one) => one !== undefined)
  const forward = (): void => controller.abort(present.find(({ aborted }) => aborted)?.reason)
  let timer: ReturnType<typeof setTimeout> | undefined
  const startedAt = Date.now()
  const arm = (ms: number): void => {
    timer = setTimeout(() => {
      const left = pausedMs() === 0 ? 0 : timeoutMs + pausedMs() - (Date.now() - startedAt)
      if (left > 0) arm(left)
      else controller.abort(onTimeout())
    }, ms)
  }
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  ended.catch(() => {})
  for (const one of present) one.addEventListener('abort', forward, { once: true })
  if (present.some(({ aborted }) => aborted)) forward()
  try {
    signal.throwIfAborted()
    arm(timeoutMs)
    return await Promise.race([work(signal), ended])
  } finally {
    clearTimeout(timer)
    for (const one of present) one.removeEventListener('abort', forward)
  }
}
