/**
 * What the wire engine is configured with, and what it is given for each request.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { Access } from '../request/access.ts'
import type { ReportError, RequestOptions } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { Telemetry } from '../request/telemetry.ts'
import type { Envelope } from './envelope.ts'

/** The limits of every call, for every kind of server. */
export interface CallLimits {
  /** Levels of JSON nesting. */
  readonly maxJsonDepth: number
  /** Members of all objects and items of all arrays of a body. */
  readonly maxJsonMembers: number
  /** UTF-16 units of one string of a body. */
  readonly maxStringCharacters: number
  /** Milliseconds that one call may take. */
  readonly maxCallMs: number
  /** Milliseconds after which an unanswered request becomes a stream. */
  readonly streamAfterMs: number
  /** Milliseconds between keep-alive comments. */
  readonly keepAliveMs: number
  /** Milliseconds before the platform's deadline at which a call is ended. */
  readonly deadlineMarginMs: number
  /** `subscriptions/listen` streams open at once in this process or isolate. */
  readonly maxListenStreams: number
  /** Milliseconds after which a `subscriptions/listen` stream is ended gracefully. */
  readonly maxListenMs: number
}

/** What an `MCPServer` answers its calls with. */
export interface EngineOptions extends RequestOptions, CallLimits {}

/** What every message is served with, for every kind of server. */
export interface ServeOptions extends CallLimits {
  readonly checkpoint: Checkpoint
  readonly reportError: ReportError
  /** Undefined: no spans. */
  readonly telemetry: Telemetry | undefined
}

/** What is known of a message once it is served, for the log. */
export interface RequestRecord {
  method?: string
  /** The tool, prompt or URI. */
  target?: string
  era?: 'modern' | 'legacy'
  protocolVersion?: string
  client?: string
  /** The client that the caller's token was issued to. */
  clientId?: string
  /** The JSON-RPC error code, where the answer is an error. */
  code?: number
}

/** What is known of a message once it is served, for the audit trail, telemetry and the limits: never for the log. */
export interface RequestFacts {
  arguments?: unknown
  isToolError?: boolean
  /** Its client has gone, and its code runs on. */
  rest?: Rest
}

/** What goes on after a call is answered. */
export interface Rest {
  /** Settles when the code does. */
  readonly work: Promise<unknown>
  /** The call's deadline, in milliseconds since the epoch: it is not waited for any longer. */
  readonly until: number
}

/** Gives a place back: at once, or when the rest of the call is done. */
export type Leave = (rest?: Rest) => void

/** Who sent a message, and on what: an HTTP request that was let in, or the one client of stdio. */
export interface Admitted {
  /** Its body is read already. */
  readonly request: Request
  readonly platform: RequestPlatform
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Headers that every response carries. */
  readonly headers: { readonly [name: string]: string }
  readonly auth: AuthInfo | undefined
  /** Undefined where the server has no `auth`. */
  readonly access: Access | undefined
  /** Messages over HTTP have headers, which must say what the body says; stdio has no headers. */
  readonly isHttp: boolean
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** How many messages of this request the rate limiter has counted, and were not served yet: one for each HTTP request. */
  readonly counted: { messages: number }
}

/** One message on its way through the engine. */
export interface Incoming extends Admitted {
  readonly record: RequestRecord
  readonly facts: RequestFacts
  /** `MCP-Protocol-Version`; null without the header. */
  readonly versionHeader: string | null
  /** What a modern request says of itself, once that is checked. */
  envelope: Envelope | undefined
  /** A response that became a stream has ended, with the status of its outcome: 499 where its client went away. */
  readonly onStreamEnd: (status: number) => void
}

/** An answer to a message that is not taken on. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers: { readonly [name: string]: string }
}

/**
 * The checks that every message passes, on every transport and for every kind of server: a call, each message of a batch, a message in a session
 * or on stdio, for a server of ours or of an SDK.
 */
export interface Checkpoint {
  /** Counts a message for its caller. */
  count(message: Admitted): undefined | Refusal | Promise<undefined | Refusal>
  /** Counts a message for its caller and takes it on; what is returned is called once, when it is answered. */
  enter(message: Admitted): Leave | Refusal | Promise<Leave | Refusal>
  /** A message is over: for the log and the audit trail. */
  finish(message: Incoming, status: number, extent: Extent): void
}

/** A batch has one line in the log for all of its messages, and an entry in the audit trail for each of its parts. */
export type Extent = 'single' | 'part' | 'batch'
