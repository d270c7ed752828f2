/**
 * The seam between a server and its tasks, whose code is an entry point of its own (`mayfly-mcp/tasks`).
 */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { AuthInfo, ClientCapabilities, Era } from '../definition/context.ts'
import type { AnyTool } from '../definition/tool.ts'
import type { Key } from '../events/subscription.ts'
import type { Context } from './context.ts'
import type { ServerOptions } from './options.ts'
import type { Params } from './params.ts'
import type { RequestScope } from './request-server.ts'
import type { MethodResult } from './result.ts'

/** What a server with `tasks` offers as `server.tasks`. */
export interface TaskControls {
  /**
   * Delivers an event to `ctx.waitFor(name)` of a task. The first event of a name counts. Resolves with false if there is no such task, or
   * it has ended, or has had that event.
   *
   * @throws TypeError for events that are too many (100) or too large (a quarter of what the store keeps of a task, all together).
   */
  send(taskId: string, name: string, value?: unknown): Promise<boolean>
  /**
   * Runs a task for one slice, if it is due and nobody else runs it. For runners. Never rejects. Resolves with the time at which the task
   * is due then, in milliseconds since the epoch: null if it waits for somebody, has ended or is unknown; not later than now if
   * it could not be run, for example because the store is down. Its runner has been told of a later time already.
   */
  run(taskId: string, platform?: SlicePlatform): Promise<number | null>
  /** Runs all tasks that are due, at most `limit` (default 20), for a cron job. Resolves with their number. */
  runDue(options?: SlicePlatform & { readonly limit?: number }): Promise<number>
}

/** What a platform tells of the invocation that runs a slice. */
export interface SlicePlatform {
  /** The platform's bindings or environment variables, for `ctx.env`. */
  readonly env?: unknown
  /** When the platform ends the invocation, in milliseconds since the epoch. */
  readonly deadline?: number
  readonly waitUntil?: (promise: Promise<unknown>) => void
}

/** Created by `mayfly-mcp/tasks` and by the stores' entry points. */
export interface TaskSupport extends TaskControls {
  /** Whether the tasks are those of one process alone. */
  readonly isLocal: boolean
  /** Whether somebody sees to it that due tasks are run, without a request or a cron. */
  readonly hasRunner: boolean
  /** Called once by the server. */
  attach(host: TaskHost): void
  /** `tools/call` of a tool with `task`. */
  call(tool: CompiledTool, input: unknown, context: Context): MethodResult | Promise<MethodResult>
  /** `tasks/get` and its like; undefined for another method. */
  method(name: string): TaskMethod | undefined
  /** The part of a `subscriptions/listen` that names tasks. @throws ProtocolError `-32021`, and `-32602` for what are no ids. */
  listen(filter: object, listener: TaskListener): Promise<TaskFilter | undefined>
  /** The notification of what has changed, a URI or a list; undefined if it is not that of a task. */
  translate(changed: Key): Promise<{ method: string; params: object } | undefined>
  /** Called when the server closes: runs end at their next step, and others go on with their tasks. */
  close(): void
  /** Whether `tools` has made some. */
  readonly hasTools: boolean
  /** Whether `tools/list` leaves the tool out: it is one of `tools`, and the client has the extension. */
  hides(tool: CompiledTool, client: Pick<TaskListener, 'era' | 'clientCapabilities'>): boolean
  /** Tools that clients without the extension need. */
  tools(defined: Iterable<AnyTool>): { readonly [name: string]: AnyTool }
}

export interface TaskMethod {
  readonly run: (scope: RequestScope, params: Params) => MethodResult | Promise<MethodResult>
  readonly caching?: undefined
}

/** A URI that begins so is that of a task, on the bus alone. */
export const TASK_URI = 'mayfly-task:'

/** Who sends a `subscriptions/listen`. */
export interface TaskListener {
  readonly era: Era
  readonly clientCapabilities: ClientCapabilities
  readonly auth: AuthInfo | undefined
  readonly hasBus: boolean
}

export interface TaskFilter {
  /** What is acknowledged. */
  readonly filter: { readonly taskIds: readonly string[] }
  readonly uris: readonly string[]
}

/** What tasks need of their server to run without a request. */
export interface TaskHost {
  readonly options: () => ServerOptions
}

/** The server's configuration, as every request uses it. */
export interface RequestOptions extends ServerOptions {
  /** Undefined: no call becomes a task. */
  readonly tasks: TaskSupport | undefined
}
