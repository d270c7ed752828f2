/** Shared by message-based runners: the message for each time when a task is due, and its handling. */
import { toReport } from '../../src/events/outage.ts'
import type { SlicePlatform, TaskControls } from '../../src/request/task-support.ts'
import { isTaskId } from '../../src/tasks/stored.ts'

/** The content of a message. */
export interface TaskWake {
  readonly id: string
  /** When the task is due, in milliseconds since the epoch. */
  readonly at: number
}

/** Milliseconds after which a queue that does not accept a message counts as down. */
export const WAKE_TIMEOUT_MS = 5000

/** Milliseconds reserved at the end of an invocation, after the last write of a run. */
export const END_MARGIN_MS = 2000

const LAST_RETRY_SECONDS = 900

/** The tasks of a runner, once a server uses it. */
export interface Attached {
  attach(tasks: TaskControls): void
  /** @throws TypeError if no server uses the runner. */
  tasks(): TaskControls
}

/** @param name The function that creates the runner. */
export function createAttached(name: string): Attached {
  let attached: TaskControls | undefined
  return {
    attach(tasks) {
      if (attached !== undefined)
        throw new TypeError(`This runner belongs to other tasks: call ${name} for each server.`)
      attached = tasks
    },
    tasks() {
      if (attached === undefined)
        throw new TypeError(
          `No server uses this runner: pass the result of ${name} to createTasks as "runner".`,
        )
      return attached
    },
  }
}

/** Undefined for a message of another sender. */
export function toTaskWake(value: unknown): TaskWake | undefined {
  const { id, at } = (value ?? {}) as { readonly id?: unknown; readonly at?: unknown }
  return typeof id === 'string' && isTaskId(id) && typeof at === 'number' ? { id, at } : undefined
}

/** A name that all messages for one time share: at most 83 letters, digits, `-` and `_`, beginning with a letter. */
export function wakeName({ id, at }: TaskWake): string {
  return `task-${id}-${at}`
}

/** Whole seconds for which a message must wait, up to the maximum of the queue. */
export function delaySecondsUntil(at: number, maxSeconds: number): number {
  return Math.min(Math.max(0, Math.ceil((at - Date.now()) / 1000)), maxSeconds)
}

/** Seconds until a message that could not be handled is delivered again. */
export function retrySeconds(attempt: number): number {
  return Math.min(2 ** attempt, LAST_RETRY_SECONDS)
}

export interface Delivery {
  readonly tasks: TaskControls
  /** 1 for the first delivery of a message. */
  readonly attempt: number
  readonly platform: SlicePlatform
  readonly send: (wake: TaskWake) => Promise<unknown>
}

/** Handles a message of a queue, and reports errors. Resolves with false if it must be delivered again. Never rejects. */
export type TakeMessage = (message: unknown, delivery: Omit<Delivery, 'tasks'>) => Promise<boolean>

export function createTakeMessage(attached: Attached): TakeMessage {
  const report = toReport({}, 'Task queue')
  return async (message, delivery) => {
    try {
      const wake = toTaskWake(message)
      if (wake !== undefined) return await deliver(wake, { tasks: attached.tasks(), ...delivery })
      report(new Error('A message does not come from this runner and was dropped.'))
      return true
    } catch (error) {
      report(error)
      return false
    }
  }
}

/**
 * Runs the task of a message. Resolves with false if the message must be delivered again.
 *
 * @throws like `send`.
 */
export async function deliver(
  wake: TaskWake,
  { tasks, attempt, platform, send }: Delivery,
): Promise<boolean> {
  if (wake.at > Date.now()) {
    await send(wake)
    return true
  }
  const dueAt = await tasks.run(wake.id, platform)
  if (dueAt === null) return true
  if (dueAt <= Date.now()) return false
  // The code that set that time also sent a message, but an earlier attempt may have died in between.
  if (attempt > 1) await send({ id: wake.id, at: dueAt })
  return true
}
