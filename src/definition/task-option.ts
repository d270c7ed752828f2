/** The option `task` of a tool, and the additional members of its context. */
import type { McpContext } from './context.ts'

/**
 * When calls of a tool become tasks (extension `io.modelcontextprotocol/tasks`).
 *
 * - `required`: every call does, before the tool runs.
 * - `auto`: a call does when the tool sleeps, waits for an event, or is not done after `afterMs`. Until then it asks
 *   questions like other tools, and a fast tool is answered immediately.
 */
export type TaskMode = 'required' | 'auto'

export type TaskOption = TaskMode | TaskOptions

export interface TaskOptions {
  /** Default `auto`. */
  readonly mode?: TaskMode
  /** With `auto`: milliseconds after which a running call becomes a task. Default 2000. */
  readonly afterMs?: number
  /** With the fallback `wait`: milliseconds after which the call becomes a task. Default 50 000, since most clients give up after a minute. */
  readonly waitMs?: number
  /**
   * Milliseconds from creation after which the task is deleted, whether or not it has ended; but at least half of that after each write, and
   * after the end of each `sleep` and `timeoutMs`. Null: never. Default: that of the server's `tasks`.
   */
  readonly ttlMs?: number | null
  /** Milliseconds that clients should wait between two polls. Default: that of the server's `tasks`. */
  readonly pollIntervalMs?: number
  /**
   * The version of the tool's code: a whole number above 0. Default 1. Raise it when steps of waiting tasks change, and read
   * `ctx.earlierVersion` to continue them in their own order.
   */
  readonly version?: number
  /**
   * What clients without the extension get. Default `wait`.
   *
   * - `wait`: the tool runs inside the call, with progress, for `waitMs` or up to the deadline; then the call becomes a task, and the
   *   result explains how to poll for it.
   * - `handle`: the call becomes a task as for other clients, and the result explains how to poll for it.
   * - `refuse`: `-32021`; for legacy clients a result that explains it.
   */
  readonly fallback?: 'wait' | 'handle' | 'refuse'
}

/** The additional members in the context of a tool with `task`. */
export interface TaskContext extends McpContext {
  /** The id of the task, once the call is a task. */
  readonly taskId: string | undefined
  /** The `version` of the tool with which the task began, if it is an earlier one than now; otherwise undefined. */
  readonly earlierVersion?: number | undefined
  /** Reads tasks of the same caller, with the interface that tools of other frameworks expect. */
  readonly taskStore: TaskReader
  /**
   * Waits without using resources: the tool runs again from the top when the time is over. Like a step, each name is done once. The task is
   * kept for as long as it sleeps, whatever its `ttlMs`.
   *
   * @param ms milliseconds.
   * @throws TypeError for a name used twice in one call.
   */
  sleep(name: string, ms: number): Promise<void>
  /**
   * Waits for an event from outside, sent by `server.tasks.send(taskId, name, value)` or to a signed URL, and resolves with its value.
   * An event that arrived before the tool waits for it counts.
   *
   * @throws DOMException `TimeoutError` after `timeoutMs` (milliseconds, default: until the task expires).
   */
  // biome-ignore lint/suspicious/noExplicitAny: the caller states the type of the value, which its own code sends.
  waitFor<Value = any>(name: string, options?: { readonly timeoutMs?: number }): Promise<Value>
}

export interface TaskReader {
  /** The task as clients see it; undefined if this caller has no task with that id. */
  getTask(taskId: string): Promise<object | undefined>
  /**
   * The result of a completed task.
   *
   * @throws Error if this caller has no task with that id, and if the task has no result: it is still working, has failed or was cancelled.
   */
  getTaskResult(taskId: string): Promise<object>
}

/** The context of a tool, by its option `task`. */
export type ToolContext<Task> = Task extends undefined ? McpContext : TaskContext
