/**
 * The context: the object that tools, resources, prompts and `setup` receive, the same on every platform and in both eras. This file
 * has its types; `request/` creates it.
 */

import type { CreateMessageParams, CreateMessageResult, Elicit, Root } from './ask.ts'
import type { AuthInfo } from './auth-info.ts'
import type { Jsonified } from './jsonified.ts'
import type { LogLevel } from './log-level.ts'

export type { AuthInfo } from './auth-info.ts'
export { LOG_LEVELS, type LogLevel } from './log-level.ts'

/** `modern`: 2026-07-28 and later, with version and capabilities in each request. `legacy`: 2025-11-25 and earlier. */
export type Era = 'modern' | 'legacy'

/** The name and version that a client or server reports. Use them only for display and logs, not for decisions. */
export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: import('./content.ts').Icon[]
}

/** The capabilities that the client declared. */
export interface ClientCapabilities {
  roots?: { listChanged?: boolean }
  sampling?: { context?: object; tools?: object }
  elicitation?: { form?: object; url?: object }
  extensions?: { [name: string]: object }
  experimental?: { [name: string]: object }
}

/** The progress of a call: `progress` must increase; `total` is the final value, if known. */
export interface Progress {
  progress: number
  total?: number
  message?: string
}

/** Whether a feature works in this request; if not, why, and what to do. */
export type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string; readonly remedy: string }

/** The features that depend on the client, the platform or the configuration, as listed in the degradation matrix. */
export type Feature =
  | 'elicitation.form'
  | 'elicitation.url'
  | 'sampling'
  | 'roots'
  | 'progress'
  | 'logging'
  | 'logLevel'
  | 'tools.listChanged'
  | 'prompts.listChanged'
  | 'resources.listChanged'
  | 'resources.subscribe'
  | 'cancellation'
  | 'resumability'
  | 'sessions'
  | 'completions'
  | 'tasks'

/**
 * The platform's bindings or environment variables. Declare yours once:
 *
 * ```ts
 * declare module 'mayfly-mcp' {
 *   interface Env { DATABASE_URL: string }
 * }
 * ```
 */
export interface Env {
  readonly [name: string]: unknown
}

/** What tools, resources, prompts and `setup` receive with each request. */
export interface McpContext {
  /** Unique per call, and the id in the logs. Also the `x-request-id` response header, unless the client sent its own. */
  readonly requestId: string
  /** Legacy era: the `Mcp-Session-Id` that the client sent, if this server created it. Without sessions it identifies no state. */
  readonly sessionId?: string
  readonly era: Era
  /** For example `2026-07-28`. */
  readonly protocolVersion: string
  /** The name and version that the client reports. */
  readonly clientInfo?: Implementation | undefined
  /** The capabilities that the client declared. */
  readonly clientCapabilities: ClientCapabilities
  /**
   * The settings with which the client declared an extension, such as `com.example/skills`; undefined if it did not (SEP-2133,
   * "Negotiation"). A legacy client declares them in `initialize`, and sends them with its `Mcp-Session-Id`.
   */
  clientExtension(id: string): { readonly [name: string]: unknown } | undefined
  /** Aborted when the client disconnects or the deadline is near. */
  readonly signal: AbortSignal
  /** When the platform ends this call, in milliseconds since the epoch. */
  readonly deadline?: number | undefined
  /** Absent for an anonymous caller. */
  readonly auth?: AuthInfo | undefined
  /** The platform's bindings or environment variables. */
  readonly env: Env
  /** The HTTP request, whose body was already read. Absent for `executeTool` outside a request. */
  readonly request?: Request | undefined
  /** Lets `promise` continue after the response, if the platform supports it. A rejection is logged. */
  waitUntil(promise: Promise<unknown>): void
  /** Whether `feature` works in this request, from the degradation matrix. */
  can(feature: Feature): Availability
  /**
   * Refuses the request with `-32021` unless the client declared these capabilities (MCP 2026-07-28, "Per-request
   * protocol fields").
   *
   * @throws ProtocolError naming the missing capabilities.
   */
  requireClientCapabilities(required: ClientCapabilities): void
  /**
   * Sends progress, at most every 100 ms; the last one is always sent, and lower values are never sent. Does nothing if the client did not
   * request progress.
   */
  reportProgress(progress: Progress): void
  /**
   * Sends a log message to the client, at or above the level it requested. Does nothing if it requested none. MCP 2026-07-28 deprecates
   * logging ("Deprecated Features"): it may be removed from 2027-07-28.
   */
  log(level: LogLevel, data: unknown, logger?: string): void
  /**
   * Asks the user with a form, or sends them to a URL. If the answer needs another round, the call ends here and the tool
   * runs again from the top with the answer: put side effects that must not run twice into a `step`.
   */
  readonly elicit: Elicit
  /**
   * Asks the client's model (MCP, "Sampling"). Replays like `elicit`. MCP 2026-07-28 deprecates it: it may be removed from 2027-07-28. New
   * tools call a model's API themselves.
   */
  createMessage(params: CreateMessageParams): Promise<CreateMessageResult>
  /**
   * The client's roots (MCP, "Roots"). Replays like `elicit`. MCP 2026-07-28 deprecates them: they may be removed from 2027-07-28. New tools
   * take a folder as an argument.
   */
  listRoots(): Promise<readonly Root[]>
  /**
   * Runs `fn` once, however many rounds the call takes, and resolves with its result, which must be JSON. If `fn` throws, every round throws
   * the same: an `Error` with the `name`, `message`, `code` and `cause`, so match `code` or `name`, not the class. A step that failed
   * may be called again.
   *
   * @throws TypeError for a name used twice in one call.
   */
  step<Value>(
    name: string,
    fn: (step: StepInfo) => Value | Promise<Value>,
    options?: StepOptions,
  ): Promise<Jsonified<Value>>
  /** The `_meta` of the request, without the keys of the protocol's envelope. */
  readonly _meta?: { readonly [key: string]: unknown }
  /** Values by name, for this request: `setup` fills it; tools, agents and workflows read it. */
  readonly requestContext: RequestContextValues
}

/** What the function of a step receives. */
export interface StepInfo {
  /**
   * The same each time this step of this call runs: pass it to services that support idempotency keys. After a crash in the middle of a
   * step, it is only the same in a task.
   */
  readonly idempotencyKey: string
  /** Aborts like `ctx.signal`, and after `timeoutMs`. */
  readonly signal: AbortSignal
}

/** When an attempt of a step counts as failed, and how often it is tried again. */
export interface StepOptions {
  /** Attempts after the first one that failed; a `NonRetryableError` ends them. Default 0. A task also counts them across crashes. */
  readonly retries?: number
  /** Milliseconds before the second attempt, doubled before each further one, up to an hour. Default 1000. */
  readonly backoffMs?: number
  /** Milliseconds after which an attempt fails with a `TimeoutError`, while its function may still run: pass `signal` on. Default: none. */
  readonly timeoutMs?: number
}

/**
 * The types of values in the request context, by name. Declare yours once:
 *
 * ```ts
 * declare module 'mayfly-mcp' {
 *   interface RequestContextEntries { tenant: string }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: users declare its members.
export interface RequestContextEntries {}

/** Values by name, for one request. */
export interface RequestContextValues {
  get<Key extends keyof RequestContextEntries>(key: Key): RequestContextEntries[Key] | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the caller states the type of the value.
  get(key: string): any
  set<Key extends string>(
    key: Key,
    value: Key extends keyof RequestContextEntries ? RequestContextEntries[Key] : unknown,
  ): void
  has(key: string): boolean
  delete(key: string): boolean
  keys(): Iterable<string>
  entries(): Iterable<[string, unknown]>
}
