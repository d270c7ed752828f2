/** Shared by message-based runners: the message for each time when a task is due, and its handling. */
import { toReport } from '../../src/events/outage.ts'
import { EVENTS_ID, type RunnerOwner } from '../../src/tasks/store.ts'
import { isTaskId } from '../../src/tasks/stored.ts'
import type { SlicePlatform, TaskControls } from '../../src/tasks/support.ts'

/** The content of a message. */
export interface TaskWake {
  readonly id: string
  /** When the task is due, in milliseconds since the epoch. */
  readonly at: number
  /** What marks the tasks of the server that sent it. Undefined: of a version before. */
  readonly server?: string
}

/** Milliseconds after which a queue that does not accept a message counts as down. */
export const WAKE_TIMEOUT_MS = 5000

/** Milliseconds reserved at the end of an invocation, after the last write of a run. */
export const END_MARGIN_MS = 2000

const LAST_RETRY_SECONDS = 900

/** The tasks of a runner, once a server uses it, and its Events. */
export interface Attached {
  attach(tasks: TaskControls, owner?: RunnerOwner): void
  /** The message for a task of its server. */
  toWake(id: string, at: number): TaskWake
  /** Whether a message is of another server, which shares the queue: that is reported once. `env` may have the stage. */
  isForeign(wake: TaskWake, env: unknown): boolean
  /** Those of which one has the id. @throws TypeError if no server uses the runner for them. */
  tasks(id: string): TaskControls
}

/** @param name The function that creates the runner. */
export function createAttached(name: string): Attached {
  interface Part {
    readonly tasks: TaskControls
    readonly owner: RunnerOwner | undefined
  }
  const parts = new Map<string | undefined, Part>()
  const partOf = (id: string): Part | undefined => parts.get(id === EVENTS_ID ? id : undefined)
  return {
    attach(tasks, owner) {
      if (parts.has(owner?.only))
        throw new TypeError(`This runner belongs to another server: call ${name} for each server.`)
      parts.set(owner?.only, { tasks, owner })
    },
    toWake(id, at) {
      const owner = partOf(id)?.owner
      return { id, at, ...(owner !== undefined && { server: owner.tag() }) }
    },
    isForeign({ id, server }, env) {
      const owner = partOf(id)?.owner
      owner?.see(env)
      return owner?.isForeign(server) === true
    },
    tasks(id) {
      const part = partOf(id)
      if (part !== undefined) return part.tasks
      const user = id === EVENTS_ID ? 'events' : 'createTasks'
      throw new TypeError(`No server uses this runner: pass the result of ${name} to ${user} as "runner".`)
    },
  }
}

/** Undefined for a message of another sender. */
export function toTaskWake(value: unknown): TaskWake | undefined {
  const { id, at, server } = (value ?? {}) as { readonly [member in keyof TaskWake]?: unknown }
  if (typeof id !== 'string' || !isTaskId(id) || typeof at !== 'number') return undefined
  return { id, at, ...(typeof server === 'string' && { server }) }
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
  readonly attached: Attached
  /** 1 for the first delivery of a message. */
  readonly attempt: number
  readonly platform: SlicePlatform
  readonly send: (wake: TaskWake) => Promise<unknown>
}

/** Handles a message of a queue, and reports errors. Resolves with false if it must be delivered again. Never rejects. */
export type TakeMessage = (message: unknown, delivery: Omit<Delivery, 'attached'>) => Promise<boolean>

export function createTakeMessage(attached: Attached): TakeMessage {
  const report = toReport({}, 'Task queue')
  return async (message, delivery) => {
    try {
      const wake = toTaskWake(message)
      if (wake !== undefined) return await deliver(wake, { attached, ...delivery })
      report(new Error('A message does not come from this runner and was dropped.'))
      return true
    } catch (error) {
      report(error)
      return false
    }
  }
}

/**
 * Runs the task of a message. Resolves with false if the message must be delivered again, as one of another server, which shares the queue.
 *
 * @throws like `send`.
 */
export async function deliver(
  wake: TaskWake,
  { attached, attempt, platform, send }: Delivery,
): Promise<boolean> {
  const tasks = attached.tasks(wake.id)
  if (attached.isForeign(wake, platform.env)) return false
  if (wake.at > Date.now()) {
    await send(wake)
    return true
  }
  const dueAt = await tasks.run(wake.id, platform)
  if (dueAt === null) return true
  if (dueAt <= Date.now()) return false
  // The code that set that time also sent a message, but an earlier attempt may have died in between.
  if (attempt > 1) await send({ ...wake, at: dueAt })
  return true
}
