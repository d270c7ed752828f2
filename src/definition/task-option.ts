/**
 * The option `task` of a tool, and what its context has more than that of other tools.
 */
import type { McpContext } from './context.ts'

/**
 * When calls of a tool become tasks (extension `io.modelcontextprotocol/tasks`).
 *
 * - `required`: every call does, before the tool runs.
 * - `auto`: a call does when the tool sleeps, waits for an event, or is not done after `afterMs`; until then its questions go over the
 *   ordinary rounds, and a tool that is quick is answered at once.
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
  /** Milliseconds from creation after which the task is forgotten, ended or not. Null: never. Default: that of the server's `tasks`. */
  readonly ttlMs?: number | null
  /** Milliseconds that clients should wait between two looks. Default: that of the server's `tasks`. */
  readonly pollIntervalMs?: number
  /**
   * What clients without the extension get. Default `wait`.
   *
   * - `wait`: the tool runs inside the call, with progress, for `waitMs` or up to the deadline; then the call becomes a task, and the
   *   result explains how to ask for it.
   * - `handle`: the call becomes a task as for other clients, and the result explains how to ask for it.
   * - `refuse`: `-32021`; for legacy clients a result that explains it.
   */
  readonly fallback?: 'wait' | 'handle' | 'refuse'
}

/** What the context of a tool with `task` has more. */
export interface TaskContext extends McpContext {
  /** The id of the task, once the call is one. */
  readonly taskId: string | undefined
  /** Reads tasks of this server, as tools of other kits expect it. */
  readonly taskStore: TaskReader
  /**
   * Waits, and costs nothing meanwhile: the tool runs again from the top when the time is over. Like a step, it is done once for each
   * name.
   *
   * @param ms milliseconds.
   * @throws TypeError for a name used twice in one call.
   */
  sleep(name: string, ms: number): Promise<void>
  /**
   * Waits for an event from outside, sent by `server.tasks.send(taskId, name, value)` or to a signed URL, and resolves with its value.
   * An event that came before the tool waits for it counts.
   *
   * @throws DOMException `TimeoutError` after `timeoutMs` (milliseconds, default: until the task expires).
   */
  // biome-ignore lint/suspicious/noExplicitAny: the caller states the type of the value, which its own code has sent.
  waitFor<Value = any>(name: string, options?: { readonly timeoutMs?: number }): Promise<Value>
}

export interface TaskReader {
  /** The task as clients see it; undefined if no task has that id. */
  getTask(taskId: string): Promise<object | undefined>
}

/** The context of a tool, by its option `task`. */
export type ToolContext<Task> = Task extends undefined ? McpContext : TaskContext
