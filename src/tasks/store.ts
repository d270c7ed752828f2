/**
 * The interface of task stores. A store does not depend on MCP: it stores a string for each task, and replaces it only if no other process
 * replaced it first. Every implementation passes the same suite of scenarios (test/runtimes/tasks).
 */

import type { StoreOwner } from '../definition/store-owner.ts'
import type { TaskControls } from './support.ts'

/** Stands for all Events of a server, where a runner gets the id of a task otherwise. */
export const EVENTS_ID = 'events'

/** A task as a store sees it. */
export interface StoredTask {
  /** Letters, digits, `-` and `_`, at most 64. Unguessable. */
  readonly id: string
  /** The creator, as a digest: the number of open tasks is limited per owner. */
  readonly owner: string
  /**
   * The server that it belongs to, which never changes: its `id`, and `id@stage` at a stage (`MAYFLY_STAGE`). Undefined for a task of a
   * version that did not store it.
   */
  readonly server?: string | undefined
  /** 1 when created, and 1 more with each replacement. */
  readonly version: number
  /** False once the task has ended. It is then no longer counted for its owner, and never due. */
  readonly isOpen: boolean
  /** When the task must run, in milliseconds since the epoch. Null: it waits for an answer or an event. */
  readonly dueAt: number | null
  /** When the task may be deleted, in milliseconds since the epoch. Null: never. */
  readonly expiresAt: number | null
  /** JSON, at most `maxStateBytes` in UTF-8. */
  readonly state: string
}

/**
 * Stores tasks durably and consistently: a call reads what an earlier call wrote on any machine. If the store cannot be reached, every
 * method rejects within seconds.
 */
export interface TaskStore {
  /** Bytes of UTF-8 that `state` may have. */
  readonly maxStateBytes: number
  /** Whether it only reaches one process. `mayfly doctor` warns if the platform runs several. */
  readonly isLocal?: boolean
  /** The runner of a store with its own clock. Default: none. */
  readonly runner?: TaskRunner
  /** Called by the server that takes it, before anything else: the names of tables and keys should contain `owner.name()`. */
  attach?(owner: StoreOwner): void
  /**
   * Milliseconds by which the clock of the store is ahead of this machine's. Called before each operation, so it must answer from memory
   * mostly. All times of tasks are then those of the store. Default: none; then the machines' clocks must agree to within a few seconds.
   */
  clockOffsetMs?(): Promise<number>
  /**
   * Stores a new task. Resolves with false, without storing it, if its owner has `maxOpen` open tasks that have not expired.
   *
   * @throws Error if the id exists.
   */
  create(task: StoredTask, maxOpen: number): Promise<boolean>
  /** Undefined for an unknown id, and after `expiresAt`. */
  read(id: string): Promise<StoredTask | undefined>
  /**
   * Compare-and-set: stores `task` if the stored one has the previous version. Resolves with false if it has another version, has expired,
   * or does not exist. `id` and `owner` never change.
   */
  replace(task: StoredTask): Promise<boolean>
  /**
   * The ids of open tasks whose `dueAt` is `now` or before, the earliest first, at most `limit`. Without expired ones. Empty for a store
   * whose own clock wakes each task (a Durable Object).
   */
  due(now: number, limit: number, options?: DueOptions): Promise<readonly string[]>
  /**
   * Counts the due tasks of a server and those without one, for telemetry: only called if there are some, every five seconds at most, and
   * awaited for a second. May count only the first thousands. Absent: they are not measured, as for a store whose own clock wakes each task.
   */
  stats?(now: number, options: { readonly server: string }): Promise<DueStats>
  /**
   * One page of all tasks, open or ended, for `mayfly-mcp/tasks-admin`, in an order of the store's own; a page may be empty before the last.
   * Default: none, as for a store that keeps each task in a place of its own (a Durable Object).
   *
   * @throws TypeError for an `after` that is not of this store.
   */
  list?(options: ListOptions): Promise<StoredTaskPage>
}

/** The tasks that wait for a run. */
export interface DueStats {
  readonly due: number
  /** The earliest `dueAt`. Null: none is due. */
  readonly oldestDueAt: number | null
}

/** Which stored tasks to list. */
export interface ListOptions {
  /** Only tasks of this server, and those without one. Default: all. */
  readonly server?: string | undefined
  /** `next` of the page before. Default: the first page. */
  readonly after?: string | undefined
  /** Tasks of the page. A store with pages of its own may return a few more. */
  readonly limit: number
}

/** A page of stored tasks, without expired ones. */
export interface StoredTaskPage {
  readonly tasks: readonly StoredTask[]
  /** Letters, digits, `-` and `_`, at most 4096. Undefined for the last page. */
  readonly next?: string | undefined
}

/** Which due tasks a server asks for. */
export interface DueOptions {
  /** Only tasks of this server, and those without one. Default: all. */
  readonly server?: string
  /** Tasks of one owner, as long as others are due; then the rest of the page is filled. As far as the store can. Default: any number. */
  readonly perOwner?: number
}

/** Makes sure that due tasks run. */
export interface TaskRunner {
  /**
   * Called after each write that sets `dueAt`, and awaited for at most 5 seconds. Must cause a call of `server.tasks.run(id)` at `at`
   * (milliseconds since the epoch) or soon after, even if this process dies. The call may be early, late or repeated. A rejection is only
   * reported: the task stays due in the store, where `runDue` finds it. During a run, `wake` is called again for the time when the run
   * would count as dead.
   */
  wake(id: string, at: number): void | Promise<void>
  /** Called after a write that makes a task no longer due, so that its timer can be removed. */
  forget?(id: string): void
  /**
   * True: the runner runs a new or answered task immediately. Default false: the request that made the task due also runs it, after its
   * response.
   */
  readonly isPrompt?: boolean
  /** Called once, with the tasks of the server. */
  attach?(tasks: TaskControls, server?: RunnerOwner): void
  /** Called when the server closes: the runner must stop. */
  close?(): void
}

/** The server of a runner, for queues that several servers share. */
export interface RunnerOwner {
  /** The one id for which the runner is called, for Events. Default: ids of tasks. */
  readonly only?: string
  /** What marks its tasks: its `id`, or `id@stage`. Throws until the tasks belong to a server. */
  tag(): string
  /** Looks for the stage in the variables of a delivery, before anything else. Throws for an invalid one. */
  see(variables: unknown): void
  /** Whether the mark is of another server, which is then reported once. */
  isForeign(tag: string | undefined): boolean
}
