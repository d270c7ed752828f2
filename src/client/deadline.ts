/** Waits with an end: the result, the deadline, or the caller's abort. */

export interface Deadline {
  readonly timeoutMs: number
  /** The caller's own signals. */
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** Milliseconds so far that do not count. */
  readonly pausedMs?: () => number
  /** Creates the error for when the time is up. */
  onTimeout(): Error
}

/**
 * Runs `work` and settles at the deadline at the latest, whatever `work` does; then its signal aborts. Once `work` has settled, the
 * signal no longer changes.
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
