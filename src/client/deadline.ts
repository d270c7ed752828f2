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
  const removals = present.map((one) => onAbort(one, forward))
  if (present.some(({ aborted }) => aborted)) forward()
  try {
    signal.throwIfAborted()
    arm(timeoutMs)
    return await Promise.race([work(signal), ended])
  } finally {
    clearTimeout(timer)
    for (const remove of removals) remove()
  }
}

/** What waits for a signal, and the one listener that calls it. */
interface Waiting {
  readonly runs: Set<() => void>
  readonly listener: () => void
}

const waitingFor = new WeakMap<AbortSignal, Waiting>()

/**
 * Calls `run` when `signal` aborts, unless the returned function is called before. A signal gets one listener however many wait for it:
 * Node prints a warning about more than ten.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const waiting = waitingFor.get(signal) ?? listenTo(signal)
  waiting.runs.add(run)
  return () => {
    waiting.runs.delete(run)
    if (waiting.runs.size > 0 || waitingFor.get(signal) !== waiting) return
    waitingFor.delete(signal)
    signal.removeEventListener('abort', waiting.listener)
  }
}

function listenTo(signal: AbortSignal): Waiting {
  const runs = new Set<() => void>()
  const listener = (): void => {
    waitingFor.delete(signal)
    for (const run of runs) run()
  }
  const waiting = { runs, listener }
  waitingFor.set(signal, waiting)
  signal.addEventListener('abort', listener, { once: true })
  return waiting
}
