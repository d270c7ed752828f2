/**
 * What the wire engine is configured with, and what it is given for each request.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { Access } from '../request/access.ts'
import type { RequestOptions } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { Telemetry } from '../request/telemetry.ts'

/** What every call is held to, whoever serves it. */
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

export interface EngineOptions extends RequestOptions, CallLimits {
  /** Undefined: nobody watches. */
  readonly telemetry: Telemetry | undefined
}

/** What is known of a request once it is served, for the log. */
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

/** What is known of a request once it is served, for the audit trail and telemetry alone: never for the log. */
export interface RequestFacts {
  arguments?: unknown
  isToolError?: boolean
}

export interface Incoming {
  readonly request: Request
  readonly body: string
  readonly platform: RequestPlatform
  readonly requestId: string
  readonly auth: AuthInfo | undefined
  /** Undefined where the server asks nobody who they are. */
  readonly access: Access | undefined
  /** Headers that every response carries. */
  readonly headers: { readonly [name: string]: string }
  readonly record: RequestRecord
  readonly facts: RequestFacts
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** A response that became a stream has ended. */
  readonly onStreamEnd: () => void
}
