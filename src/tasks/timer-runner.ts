/**
 * Runs due tasks in a process that stays: by timers for what this process knows, and by looking into the store for the rest.
 */
import { MAX_TIMER_MS } from '../interaction/rendezvous.ts'
import type { TaskControls } from '../request/task-support.ts'
import type { TaskRunner } from './store.ts'

export interface PollingOptions {
  /** Milliseconds between two looks into the store. Default 5000. */
  readonly everyMs?: number
  /** Tasks that one look runs. Default 20. */
  readonly limit?: number
}

/** Milliseconds after a look that found as many tasks as it takes. */
const FULL_LOOK_MS = 50

/**
 * Creates a runner for a process that stays (Node, Bun, Deno), with a store that others share: tasks that another process has left are
 * found within `everyMs`. Every process of a deployment may have one.
 *
 * @throws TypeError for an interval that is not above 0.
 */
export function pollingRunner({ everyMs = 5000, limit = 20 }: PollingOptions = {}): TaskRunner {
  if (!(everyMs > 0 && everyMs <= MAX_TIMER_MS && limit >= 1))
    throw new TypeError(
      '"everyMs" of pollingRunner must be above 0 and at most 2147483647, "limit" at least 1.',
    )
  const timers = createTimerRunner()
  let isClosed = false
  /** Resolves with the time until the next look. A run that takes longer than that keeps no other task waiting. */
  const look = async (tasks: TaskControls): Promise<number> => {
    const enough = new Promise<undefined>((resolve) => later(() => resolve(undefined), everyMs))
    const found = await Promise.race([tasks.runDue({ limit }), enough])
    if (found === undefined) return 0
    // A full look: there may be more. If they cannot be run, they are found again: so not at once.
    return found >= limit ? Math.min(everyMs, FULL_LOOK_MS) : everyMs
  }
  return {
    ...timers,
    attach(tasks) {
      timers.attach?.(tasks)
      const again = (afterMs: number): void => {
        later(() => {
          if (!isClosed)
            void look(tasks)
              .catch(() => everyMs)
              .then(again)
        }, afterMs)
      }
      again(everyMs)
    },
    close() {
      isClosed = true
      timers.close?.()
    },
  }
}

/** Creates a runner by timers alone: they die with their process. */
export function createTimerRunner(): TaskRunner {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  let tasks: TaskControls | undefined
  const wake = (id: string, at: number): void => {
    clearTimeout(timers.get(id))
    const onTime = (): void => {
      timers.delete(id)
      // A timer may be a millisecond early, and nobody else would wake a task that is not due yet.
      if (at > Date.now()) wake(id, at)
      else void tasks?.run(id)
    }
    timers.set(id, later(onTime, Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS)))
  }
  return {
    wake,
    forget(id) {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    attach(given) {
      tasks = given
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}

/** A timer that does not keep its process alive. */
function later(run: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, ms)
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}
