/** Waiting that ends: by the work, by its time, or by the caller. */

export interface Deadline {
  readonly timeoutMs: number
  /** The caller's own signals. */
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** Asked when the time is up: while true, the wait gets as much time again. */
  readonly isPaused?: () => boolean
  /** What the wait rejects with when its time is up. */
  onTimeout(): Error
}

/**
 * Runs `work` and settles no later than the deadline, whatever `work` does; its signal aborts then. The signal stays as it is
 * once `work` has settled.
 */
export async function withDeadline<T>(
  { timeoutMs, signals = [], isPaused = () => false, onTimeout }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const present = signals.filter((one) => one !== undefined)
  const forward = (): void => controller.abort(present.find(({ aborted }) => aborted)?.reason)
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (): void => {
    timer = setTimeout(() => (isPaused() ? arm() : controller.abort(onTimeout())), timeoutMs)
  }
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  ended.catch(() => {})
  for (const one of present) one.addEventListener('abort', forward, { once: true })
  if (present.some(({ aborted }) => aborted)) forward()
  try {
    signal.throwIfAborted()
    arm()
    return await Promise.race([work(signal), ended])
  } finally {
    clearTimeout(timer)
    for (const one of present) one.removeEventListener('abort', forward)
  }
}
