/**
 * Where tasks are kept. A store knows nothing of MCP: it keeps a text for each task, and replaces it only if nobody else has replaced
 * it first. Every implementation passes the same suite of scenarios (test/runtimes/tasks).
 */

import type { TaskControls } from '../request/task-support.ts'

/** A task as a store keeps it. */
export interface StoredTask {
  /** Letters, digits, `-` and `_`, at most 64. Nobody can guess it. */
  readonly id: string
  /** Who created it, as a digest: the number of open tasks is limited for each owner. */
  readonly owner: string
  /** 1 when created, and 1 more with each replacement. */
  readonly version: number
  /** False once the task has ended. It is then no longer counted for its owner, and never due. */
  readonly isOpen: boolean
  /** When the task is to be run, in milliseconds since the epoch. Null: it waits for somebody. */
  readonly dueAt: number | null
  /** When the task may be forgotten, in milliseconds since the epoch. Null: never. */
  readonly expiresAt: number | null
  /** JSON, at most `maxStateBytes` in UTF-8. */
  readonly state: string
}

/**
 * Keeps tasks durably and consistently: what a call has written, the next call reads, on whatever machine. Every method rejects if
 * the store cannot be reached, within seconds; nothing hangs.
 */
export interface TaskStore {
  /** Bytes of UTF-8 that `state` may have. */
  readonly maxStateBytes: number
  /** Whether it reaches one process alone. `mayfly doctor` warns where a platform runs several. */
  readonly isLocal?: boolean
  /** The runner of a store that has a clock of its own. Default: none. */
  readonly runner?: TaskRunner
  /**
   * Keeps a new task. Resolves with false, and keeps nothing, if its owner has `maxOpen` open tasks that have not expired.
   *
   * @throws Error if a task has that id.
   */
  create(task: StoredTask, maxOpen: number): Promise<boolean>
  /** Undefined for an id that is unknown, and once `expiresAt` is past. */
  read(id: string): Promise<StoredTask | undefined>
  /**
   * Compare-and-set: keeps `task` if the kept one has the version before it. Resolves with false if it has another version, has expired,
   * or is gone. `id` and `owner` never change.
   */
  replace(task: StoredTask): Promise<boolean>
  /**
   * The ids of open tasks whose `dueAt` is `now` or before, the earliest first, at most `limit`. Expired ones are left out. A store whose
   * own clock wakes each task (a Durable Object) has none to tell.
   */
  due(now: number, limit: number): Promise<readonly string[]>
}

/** Sees to it that due tasks are run. */
export interface TaskRunner {
  /**
   * Called after each write that sets `dueAt`, and waited for, 5 seconds at most: have `server.tasks.run(id)` called at `at` (milliseconds since the epoch) or
   * soon after, also if this process dies. It may be called too early, too late or twice. A rejection is reported, and fails nothing: the
   * task stays due in the store, where `runDue` finds it. While a run is at work, `wake` is called again for the time at which it would
   * count as dead.
   */
  wake(id: string, at: number): void | Promise<void>
  /** Called after a write with which a task is no longer due, so that a timer of it may go. */
  forget?(id: string): void
  /**
   * True: it runs a new or answered task at once by itself. Default false: the request that made the task due runs it, too, after its
   * response.
   */
  readonly isPrompt?: boolean
  /** Called once, with the tasks of the server. */
  attach?(tasks: TaskControls): void
  /** Called when the server closes: it runs nothing any more. */
  close?(): void
}
