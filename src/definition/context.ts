/**
 * The context: the one object that tools, resources, prompts and `setup` are given, the same on every platform
 * and in both eras. This file says what it holds; `request/` makes it.
 */

import type {
  CreateMessageParams,
  CreateMessageResult,
  Elicit,
  ElicitAnswer,
  ElicitParams,
  Root,
} from './ask.ts'
import type { AuthInfo } from './auth-info.ts'
import type { Jsonified } from './jsonified.ts'
import type { LogLevel } from './log-level.ts'
import type {
  SdkHttp,
  SdkMcpRequest,
  SdkRequestInfo,
  SdkRequestMeta,
  SdkSendNotification,
  SdkSendRequest,
  SdkV1Extra,
  SdkV2Context,
} from './sdk-context.ts'

export type { AuthInfo } from './auth-info.ts'
export { LOG_LEVELS, type LogLevel } from './log-level.ts'

/** `modern`: 2026-07-28 and later, version and capabilities in each request. `legacy`: 2025-11-25 and earlier. */
export type Era = 'modern' | 'legacy'

/** The client's or server's name and version, as it reports itself: for display and logs, never for decisions. */
export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: import('./content.ts').Icon[]
}

/** What the client declared it can do. */
export interface ClientCapabilities {
  roots?: { listChanged?: boolean }
  sampling?: { context?: object; tools?: object }
  elicitation?: { form?: object; url?: object }
  extensions?: { [name: string]: object }
  experimental?: { [name: string]: object }
}

export interface Progress {
  progress: number
  total?: number
  message?: string
}

/** Whether something can be done in this very request, and what to do about it if not. */
export type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string; readonly remedy: string }

/** The things a stateless server may or may not be able to do, as the degradation matrix lists them. */
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

export interface RequestContext {
  /** Unique per HTTP request; also the `x-request-id` response header and the id in the logs. */
  readonly requestId: string
  /** Legacy era: the `Mcp-Session-Id` the client sent, where it is one of ours. It identifies nothing on the server. */
  readonly sessionId?: string
  readonly era: Era
  /** For example `2026-07-28`. */
  readonly protocolVersion: string
  readonly clientInfo?: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  /** Aborted when the client goes away or the deadline nears. */
  readonly signal: AbortSignal
  /** `signal`, under the name that the AI SDK, Mastra and others give it. */
  readonly abortSignal: AbortSignal
  /** When the platform ends this call, in milliseconds since the epoch. */
  readonly deadline?: number | undefined
  /** Absent when the caller is anonymous. */
  readonly auth?: AuthInfo | undefined
  readonly env: Env
  /** The HTTP request; its body is already read. Absent for `executeTool` outside a request. */
  readonly request?: Request | undefined
  /** Lets `promise` outlive the response, where the platform allows it. A rejection is logged. */
  waitUntil(promise: Promise<unknown>): void
  /** Whether `feature` works in this request, from the degradation matrix. */
  can(feature: Feature): Availability
  /**
   * Refuses the request with `-32021` unless the client declared these capabilities (MCP 2026-07-28, "Per-request
   * protocol fields").
   */
  requireClientCapabilities(required: ClientCapabilities): void
  /** Sent at most every 100 ms, the last one always, never decreasing. Does nothing when the client did not ask. */
  reportProgress(progress: Progress): void
  /** A log message to the client, at or above the level it asked for. Does nothing when the client did not ask. */
  log(level: LogLevel, data: unknown, logger?: string): void
  /**
   * Asks the user: with a form, or by sending them to a URL. Where the client must be asked in another round, the call ends
   * here and the tool runs again from the top with the answer: do what must not be done twice in a `step`.
   */
  readonly elicit: Elicit
  /** Asks the client's model (MCP, "Sampling"). Replays like `elicit`. */
  createMessage(params: CreateMessageParams): Promise<CreateMessageResult>
  /** The client's roots (MCP, "Roots"). Replays like `elicit`. */
  listRoots(): Promise<readonly Root[]>
  /**
   * Runs `fn` once, however many rounds the call takes, and returns its result, which must be JSON.
   *
   * @throws TypeError for a name used twice in one call.
   */
  step<Value>(name: string, fn: () => Value | Promise<Value>): Promise<Jsonified<Value>>
  /** The same powers under the names other frameworks use. */
  readonly mcp: McpContext

  /** `elicit`, with parameters as on the wire. Of `options`, those of `elicit` count. */
  elicitInput(params: ElicitParams, options?: object): Promise<ElicitAnswer<Record<string, unknown>>>
  /** Whether nothing is kept between the requests of this client: true everywhere but in a session and on stdio. */
  readonly stateless: boolean
  /** As in Mastra: the members of `mcp.extra` by name, all of it as `mcp.extra`, and `user` where the verifier attached one. */
  readonly requestContext: RequestContextValues
  /** As in the AI SDK: `requestId`, since MCP gives calls no other id that is unique. */
  readonly toolCallId: string
  /** As in the AI SDK. Always empty: an MCP client hands over no conversation. */
  readonly messages: readonly never[]

  /** As in callbacks written for the official SDK, v1: `auth`. */
  readonly authInfo?: AuthInfo
  /** SDK v1: the `_meta` of the request. */
  readonly _meta?: SdkRequestMeta
  /** SDK v1: headers and URL of the HTTP request. */
  readonly requestInfo?: SdkRequestInfo
  /** SDK v1. */
  readonly sendNotification: SdkSendNotification
  /** SDK v1. */
  readonly sendRequest: SdkSendRequest
  /** SDK v2: the MCP request. */
  readonly mcpReq: SdkMcpRequest
  /** SDK v2: the HTTP request. */
  readonly http?: SdkHttp
}

/** Values by name, for one request: what Mastra calls `RequestContext`. */
export interface RequestContextValues {
  get(key: 'mcp.extra'): McpContext['extra']
  // biome-ignore lint/suspicious/noExplicitAny: as in Mastra, the caller names the type of its own value.
  get(key: string): any
  set(key: string, value: unknown): void
  has(key: string): boolean
  delete(key: string): boolean
  keys(): Iterable<string>
  entries(): Iterable<[string, unknown]>
  /** A method, as in Mastra. */
  size(): number
}

/** What tools written for other frameworks look for. */
export interface McpContext {
  /** The second argument of the official SDK's callbacks, of v1 and v2 in one: a plain object, which may be spread. */
  readonly extra: SdkV1Extra & SdkV2Context
  readonly elicitation: {
    /** Of `options`, those of `ctx.elicit` count. */
    sendRequest(params: ElicitParams, options?: object): Promise<ElicitAnswer<Record<string, unknown>>>
  }
  /** A log message to the client, as by `ctx.log`; `data` and the message become one object. */
  log(level: LogLevel, message: string, data?: Record<string, unknown>): Promise<void>
  /** As `ctx.reportProgress`. */
  progress(progress: Progress): Promise<void>
  /** Of modern requests only. */
  readonly protocolVersion?: '2026-07-28'
}
