/** The tasks of a server, as it and its runners use them. */
import { EXTENSION_URI, type Extension } from '../request/extension.ts'

/** The type of `server.tasks`. */
export interface TaskControls {
  /**
   * Delivers an event to `ctx.waitFor(name)` of a task. Only the first event of a name counts. Resolves with false if the task does not
   * exist (it is deleted after its `ttlMs`, even while it waits), has ended, or already received that event.
   *
   * @throws TypeError for too many events (over 100) or too large ones (over a quarter of the store's limit per task, in total).
   */
  send(taskId: string, name: string, value?: unknown): Promise<boolean>
  /**
   * Runs one slice of a task, if it is due and no other process runs it. For runners. Never rejects. Resolves with the next due time in
   * milliseconds since the epoch: null if the task waits for an answer, has ended or is unknown; not later than now if it could not be run,
   * for example because the store is down or the process runs as many as it may. The runner was already notified of a later time.
   */
  run(taskId: string, platform?: SlicePlatform): Promise<number | null>
  /**
   * Runs tasks that are due, `limit` (default 20) at once, for a cron job. With a `deadline`, until nothing is due or the time is nearly
   * over; otherwise `limit` of them. Resolves with their number.
   */
  runDue(options?: SlicePlatform & { readonly limit?: number }): Promise<number>
}

/** What a platform reports about the invocation that runs a slice. */
export interface SlicePlatform {
  /** The platform's bindings or environment variables, for `ctx.env`. */
  readonly env?: unknown
  /** When the platform ends the invocation, in milliseconds since the epoch. */
  readonly deadline?: number
  readonly waitUntil?: (promise: Promise<unknown>) => void
}

/** Created by `mayfly-mcp/tasks` and by the stores' entry points. */
export interface TaskSupport extends TaskControls, Extension {
  /** Whether the tasks exist only in one process. */
  readonly isLocal: boolean
  /** Whether a runner runs due tasks, without a request or a cron. */
  readonly hasRunner: boolean
  /** Called when the server closes: runs end at their next step, and other processes continue their tasks. */
  close(): void
}

declare module '../request/extension.ts' {
  interface ExtensionOptions {
    /** The store and the runner for calls of tools with `task`: see `mayfly-mcp/tasks`. */
    tasks?: TaskSupport
  }
  interface ExtensionFacts {
    /** Whether the server has `tasks`. Default false. */
    hasTasks?: boolean
    /** Whether the tasks exist only in one process. Default false. */
    hasLocalTasks?: boolean
    /** Whether they have a runner. Default false. */
    hasTaskRunner?: boolean
  }
  interface ExtensionApis {
    /** The tasks of this server: sends events to them and runs them. Undefined without the option `tasks`. */
    readonly tasks: TaskControls
  }
}

/** The prefix of a task's URI, which is only used on the bus. */
export const TASK_URI = `${EXTENSION_URI}tasks:`
