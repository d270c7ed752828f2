/**
 * The context in the form that the official SDK passes to tool callbacks, so that those work unchanged: `RequestHandlerExtra` in
 * v1, `ServerContext` in v2. Structural types, without a dependency on either package.
 */
import type { AuthInfo } from '../definition/auth-info.ts'
import type { LogLevel } from '../definition/log-level.ts'
import type { InferOutput } from '../definition/schema.ts'

/** A request or notification in wire form, without its JSON-RPC envelope. */
export interface WireMessage {
  readonly method: string
  readonly params?: object | undefined
}

/** The `_meta` of the request, without the envelope keys. */
export interface SdkRequestMeta {
  progressToken?: string | number
  [key: string]: unknown
}

/** The client's result of `elicitation/create`, in wire form. */
export interface SdkElicitResult {
  action: 'accept' | 'decline' | 'cancel'
  content?: { [name: string]: string | number | boolean | string[] }
  [key: string]: unknown
}

/** The client's result of `sampling/createMessage`, in wire form. */
export interface SdkSamplingResult {
  role: 'user' | 'assistant'
  // biome-ignore lint/suspicious/noExplicitAny: content blocks of the installed SDK, whose versions differ.
  content: any
  model: string
  stopReason?: string
  [key: string]: unknown
}

/**
 * Sends `elicitation/create`, `sampling/createMessage` or `roots/list` to the client, like `ctx.elicit` and similar methods: the call may
 * end here and run again with the answer. Options such as a timeout are ignored: the server's configuration sets them.
 *
 * @throws ProtocolError with a `Degraded` as `data`, for every other request: there is no connection to send it on.
 */
export interface SdkSendRequest {
  <Result extends SdkSchema>(
    request: WireMessage,
    resultSchema: Result,
    options?: unknown,
  ): Promise<InferOutput<Result>>
  // biome-ignore lint/suspicious/noExplicitAny: as in the SDK, the caller states the type of the result; only `any` fits each.
  (request: WireMessage, ...options: unknown[]): Promise<any>
}

/** A schema of any zod version, and what `InferOutput` reads. */
type SdkSchema = import('@standard-schema/spec').StandardSchemaV1

/**
 * Sends a notification about this request. Progress is throttled and log messages are filtered as by `ctx.reportProgress` and
 * `ctx.log`. Changes of lists and resources are published to the server's bus, or dropped without a bus.
 */
export type SdkSendNotification = (notification: WireMessage) => Promise<void>

/** SDK v1: the second argument of a tool's callback. */
export interface SdkV1Extra {
  readonly signal: AbortSignal
  /** The JSON-RPC id. */
  readonly requestId: string | number
  readonly sessionId?: string
  readonly authInfo?: AuthInfo
  readonly _meta?: SdkRequestMeta
  readonly requestInfo?: SdkRequestInfo
  readonly sendNotification: SdkSendNotification
  readonly sendRequest: SdkSendRequest
}

/** SDK v1: the HTTP request. */
export interface SdkRequestInfo {
  headers: Record<string, string | string[] | undefined>
  url?: URL
}

/** SDK v2: the second argument of a tool's callback. */
export interface SdkV2Context {
  readonly sessionId?: string
  readonly mcpReq: SdkMcpRequest
  readonly http?: SdkHttp
}

/** SDK v2: the HTTP request, and the caller's verified token. */
export interface SdkHttp {
  req?: Request
  authInfo?: AuthInfo
}

/** SDK v2: the current MCP request. */
export interface SdkMcpRequest {
  id: string | number
  method: string
  _meta?: SdkRequestMeta
  /** The envelope keys of `_meta` (modern era). */
  envelope?: Record<string, unknown>
  /** The client's answers to the `inputRequests` that the callback returned last. */
  inputResponses?: Record<string, unknown>
  /** The `requestState` that the callback returned last. Clients cannot change it: it is sealed, or never leaves the server. */
  requestState: <State = unknown>() => State | undefined
  signal: AbortSignal
  send: SdkSendRequest
  notify: SdkSendNotification
  log: (level: LogLevel, data: unknown, logger?: string) => Promise<void>
  /** Takes the parameters of `elicitation/create` in wire form. */
  elicitInput: (params: { message: string }, options?: unknown) => Promise<SdkElicitResult>
  /** Takes the parameters of `sampling/createMessage` in wire form. */
  requestSampling: (params: { maxTokens: number }, options?: unknown) => Promise<SdkSamplingResult>
}
