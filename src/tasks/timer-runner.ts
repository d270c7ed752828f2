/** Runs due tasks in a long-lived process: by timers for tasks of this process, and by polling the store for others. */
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { EVENTS_ID, type TaskRunner } from './store.ts'
import type { TaskControls } from './support.ts'

export interface PollingOptions {
  /** Milliseconds between two polls of the store. Default 5000. */
  readonly everyMs?: number
  /** Maximum tasks per poll. Default 20. */
  readonly limit?: number
}

const OPTIONS: Names<PollingOptions> = { everyMs: [0], limit: [1] }

/** Milliseconds after which runs that take longer do not keep others waiting. */
const CATCH_UP_MS = 1000

/** Milliseconds after a poll that found the maximum. */
const FULL_LOOK_MS = 50

/**
 * Creates a runner for a long-lived process (Node, Bun, Deno) with a shared store: it finds tasks abandoned by another process within
 * `everyMs`. Every process of a deployment may have one.
 *
 * @throws TypeError for an interval that is not above 0.
 */
export function pollingRunner(options: PollingOptions = {}): TaskRunner {
  refuseUnknown('pollingRunner', options, OPTIONS)
  const { everyMs = 5000, limit = 20 } = options
  if (!(everyMs > 0 && everyMs <= MAX_TIMER_MS && limit >= 1))
    throw new TypeError(
      '"everyMs" of pollingRunner must be above 0 and at most 2147483647, "limit" at least 1.',
    )
  const timers = createTimerRunner()
  let isClosed = false
  /** Resolves with the time until the next poll. A longer run does not block other tasks. */
  const look = async (tasks: TaskControls): Promise<number> => {
    const enough = new Promise<undefined>((resolve) => later(() => resolve(undefined), everyMs))
    const found = await Promise.race([tasks.runDue({ limit }), enough])
    if (found === undefined) return 0
    // The poll found the maximum, so there may be more. Not immediately, since tasks that cannot run would be found again.
    return found >= limit ? Math.min(everyMs, FULL_LOOK_MS) : everyMs
  }
  return {
    ...timers,
    attach(tasks, owner) {
      timers.attach?.(tasks, owner)
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

/** Creates a runner that only uses timers, which end with the process. */
export function createTimerRunner(): TaskRunner {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  /** The tasks of a server, and its Events. */
  const parts = new Map<string | undefined, TaskControls>()
  const behind = new Set<TaskControls>()
  let isClosed = false
  /** Runs what is due, until there is nothing. */
  const catchUp = async (tasks: TaskControls): Promise<void> => {
    if (behind.has(tasks)) return
    behind.add(tasks)
    for (let found = 1; found > 0 && !isClosed; ) {
      await new Promise<void>((resolve) => later(resolve, FULL_LOOK_MS))
      const longer = new Promise<number>((resolve) => later(() => resolve(1), CATCH_UP_MS))
      found = await Promise.race([tasks.runDue(), longer]).catch(() => 0)
    }
    behind.delete(tasks)
  }
  const runNow = async (id: string): Promise<void> => {
    const tasks = parts.get(id === EVENTS_ID ? id : undefined)
    const next = await tasks?.run(id)
    // There was no place for it in this process, or the store failed.
    if (tasks !== undefined && typeof next === 'number' && next <= Date.now()) await catchUp(tasks)
  }
  const wake = (id: string, at: number): void => {
    clearTimeout(timers.get(id))
    const onTime = (): void => {
      timers.delete(id)
      // A timer may fire a millisecond early, and no other timer would wake a task that is not due yet.
      if (at > Date.now()) wake(id, at)
      else void runNow(id)
    }
    timers.set(id, later(onTime, Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS)))
  }
  return {
    wake,
    forget(id) {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    attach(tasks, owner) {
      parts.set(owner?.only, tasks)
    },
    close() {
      isClosed = true
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
