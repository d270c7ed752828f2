/** The interface between a server and its tasks, which are in a separate entry point (`mayfly-mcp/tasks`). */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { AuthInfo, ClientCapabilities, Era } from '../definition/context.ts'
import type { StoreOwner } from '../definition/store-owner.ts'
import type { AnyTool } from '../definition/tool.ts'
import type { Key } from '../events/coalesced-changes.ts'
import type { Access } from './access.ts'
import type { Context } from './context.ts'
import type { MethodResult } from './method-result.ts'
import type { ServerOptions } from './options.ts'
import type { TaskMethod } from './task-method.ts'
import type { Telemetry } from './telemetry.ts'

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
export interface TaskSupport extends TaskControls {
  /** Whether the tasks exist only in one process. */
  readonly isLocal: boolean
  /** Whether a runner runs due tasks, without a request or a cron. */
  readonly hasRunner: boolean
  /** Called once by the server. */
  attach(host: TaskHost): void
  /** `tools/call` of a tool with `task`. */
  call(tool: CompiledTool, input: unknown, context: Context): MethodResult | Promise<MethodResult>
  /** `tasks/get` and the other task methods; undefined for another method. */
  method(name: string): TaskMethod | undefined
  /** The part of a `subscriptions/listen` that names tasks. @throws ProtocolError `-32021`, and `-32602` for invalid ids. */
  listen(filter: object, listener: TaskListener): Promise<TaskFilter | undefined>
  /** The notification for a changed URI or list; undefined if it is not about a task. */
  translate(changed: Key): Promise<{ method: string; params: object } | undefined>
  /** Called when the server closes: runs end at their next step, and other processes continue their tasks. */
  close(): void
  /** Whether `tools` created any. */
  readonly hasTools: boolean
  /** Whether `tools/list` omits the tool: it is one of `tools`, and the client has the extension. */
  hides(tool: CompiledTool, client: Pick<TaskListener, 'era' | 'clientCapabilities'>): boolean
  /** Tools that clients without the extension need. */
  tools(defined: Iterable<AnyTool>): { readonly [name: string]: AnyTool }
}

/** The prefix of a task's URI, which is only used on the bus. */
export const TASK_URI = 'mayfly-task:'

/** The sender of a `subscriptions/listen`. */
export interface TaskListener {
  readonly era: Era
  readonly clientCapabilities: ClientCapabilities
  readonly auth: AuthInfo | undefined
  readonly access: Access | undefined
  readonly hasBus: boolean
}

export interface TaskFilter {
  /** What is acknowledged. */
  readonly filter: { readonly taskIds: readonly string[] }
  readonly uris: readonly string[]
}

/** What tasks need from their server to run without a request. */
export interface TaskHost {
  /** The server and its stage, to which its tasks belong. */
  readonly owner: StoreOwner
  readonly options: () => ServerOptions
  readonly telemetry?: Telemetry | undefined
}

/** The server's configuration, as every request uses it. */
export interface RequestOptions extends ServerOptions {
  /** Undefined: no call becomes a task. */
  readonly tasks: TaskSupport | undefined
}
