/**
 * The context under the names that the official SDK gives its tool callbacks, so that those run unchanged: what v1 calls
 * `RequestHandlerExtra` and v2 calls `ServerContext`. Structural, so that nothing here depends on either package.
 */
import type { AuthInfo } from './auth-info.ts'
import type { LogLevel } from './log-level.ts'
import type { InferOutput } from './schema.ts'

/** A request or notification as on the wire, without its JSON-RPC envelope. */
export interface WireMessage {
  readonly method: string
  readonly params?: object | undefined
}

/** The `_meta` of the request, without the keys that say who is asking. */
export interface SdkRequestMeta {
  progressToken?: string | number
  [key: string]: unknown
}

/** `elicitation/create` answered, as on the wire. */
export interface SdkElicitResult {
  action: 'accept' | 'decline' | 'cancel'
  content?: { [name: string]: string | number | boolean | string[] }
  [key: string]: unknown
}

/** `sampling/createMessage` answered, as on the wire. */
export interface SdkSamplingResult {
  role: 'user' | 'assistant'
  // biome-ignore lint/suspicious/noExplicitAny: content blocks of the SDK in use, whose versions differ.
  content: any
  model: string
  stopReason?: string
  [key: string]: unknown
}

/**
 * Sends a request to the client: `elicitation/create`, `sampling/createMessage` and `roots/list`, each as `ctx.elicit` and its
 * siblings do, so the call may end here and run again with the answer. `options` such as a timeout are the server's to set.
 *
 * @throws ProtocolError with `data` a `Degraded`, for every other request: there is no connection to send it on.
 */
export interface SdkSendRequest {
  <Result extends SdkSchema>(
    request: WireMessage,
    resultSchema: Result,
    options?: unknown,
  ): Promise<InferOutput<Result>>
  // biome-ignore lint/suspicious/noExplicitAny: as in the SDK, the caller names the type of the result; only `any` fits each.
  (request: WireMessage, ...options: unknown[]): Promise<any>
}

/** What every version of zod is, and what `InferOutput` reads. */
type SdkSchema = import('@standard-schema/spec').StandardSchemaV1

/**
 * Sends a notification about this request. Progress is throttled and logging filtered as by `ctx.reportProgress` and
 * `ctx.log`; news of changed lists and resources goes to the server's bus, and nowhere without one.
 */
export type SdkSendNotification = (notification: WireMessage) => Promise<void>

/** SDK v1: the second argument of a tool's callback. */
export interface SdkV1Extra {
  readonly signal: AbortSignal
  /** The JSON-RPC id; on the context itself `requestId` is the one of the HTTP request, as in the log. */
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

export interface SdkHttp {
  req?: Request
  authInfo?: AuthInfo
}

/** SDK v2: the MCP request that is being answered. */
export interface SdkMcpRequest {
  id: string | number
  method: string
  _meta?: SdkRequestMeta
  /** The keys of `_meta` that say who is asking, in the modern era. */
  envelope?: Record<string, unknown>
  /** What the client answered to the `inputRequests` that the callback returned last. */
  inputResponses?: Record<string, unknown>
  /** The `requestState` that the callback returned last. It was never sent, so no client can have changed it. */
  requestState: <State = unknown>() => State | undefined
  signal: AbortSignal
  send: SdkSendRequest
  notify: SdkSendNotification
  log: (level: LogLevel, data: unknown, logger?: string) => Promise<void>
  /** Parameters of `elicitation/create` as on the wire. */
  elicitInput: (params: { message: string }, options?: unknown) => Promise<SdkElicitResult>
  /** Parameters of `sampling/createMessage` as on the wire. */
  requestSampling: (params: { maxTokens: number }, options?: unknown) => Promise<SdkSamplingResult>
}

/** What an SDK v2 callback may return instead of a result: its questions. It is called again with the answers. */
export interface InputRequired {
  resultType: 'input_required'
  inputRequests?: { [key: string]: { method: string; params?: object | undefined } }
  requestState?: string
}

export function isInputRequired(output: unknown): output is InputRequired {
  return (output as { resultType?: unknown } | null | undefined)?.resultType === 'input_required'
}
