/**
 * The configuration of the engine, and what it receives with each request.
 */

import type { Definition } from '../definition/compile.ts'
import type { Meta } from '../definition/content.ts'
import type { AuthInfo, Era, Implementation } from '../definition/context.ts'
import type { StoreOwner } from '../definition/store-owner.ts'
import type { Wanted } from '../events/coalesced-changes.ts'
import type { Feed } from '../events/feed.ts'
import type { Waiting } from '../interaction/begin.ts'
import type { Access } from '../request/access.ts'
import type { Extensions, RequestOptions } from '../request/extension.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { Sharing } from '../request/sharing.ts'
import type { Telemetry } from '../request/telemetry.ts'
import type { BatchAnswers } from './batch-answers.ts'
import type { Envelope } from './envelope.ts'
import type { Message } from './json-rpc.ts'
import type { Reply } from './reply.ts'

/** The limits of every call, for every kind of server. */
export interface CallLimits extends Sharing {
  /** Maximum levels of JSON nesting. */
  readonly maxJsonDepth: number
  /** Maximum number of object members and array items in a body. */
  readonly maxJsonMembers: number
  /** Maximum UTF-16 units of one string in a body. */
  readonly maxStringCharacters: number
  /** Maximum milliseconds of one call. */
  readonly maxCallMs: number
  /** Milliseconds after which an unanswered request becomes a stream. */
  readonly streamAfterMs: number
  /** Milliseconds between keep-alive comments. */
  readonly keepAliveMs: number
  /** How many milliseconds before the platform's deadline a call is ended. */
  readonly deadlineMarginMs: number
  /** Maximum concurrent `subscriptions/listen` streams in this process or isolate. */
  readonly maxListenStreams: number
  /** Maximum characters of the URIs that those streams listen to, with 100 more for each URI. */
  readonly maxListenCharacters: number
  /** Milliseconds after which a `subscriptions/listen` stream is ended gracefully. */
  readonly maxListenMs: number
  /** Maximum calls of legacy clients that wait for an answer at a rendezvous, in this process or isolate. */
  readonly maxWaitingCalls: number
}

/** The options of an `MCPServer`'s engine. */
export interface EngineOptions extends RequestOptions, CallLimits {
  readonly feed: Feed
  readonly subscriptions: Subscriptions | undefined
  /** The calls that wait for an answer at a rendezvous. */
  readonly waiting: Waiting
}

/** The options of every kind of server's engine. */
export interface ServeOptions extends CallLimits {
  readonly checkpoint: Checkpoint
  readonly reportError: ReportError
  /** Undefined: no spans. */
  readonly telemetry: Telemetry | undefined
}

/** The facts of a served message, for the log. Besides `method`, they are filled in by `fillRecord` once they are written. */
export interface RequestRecord {
  method?: string
  /** The tool, prompt or URI. */
  target?: string
  era?: Era
  protocolVersion?: string
  client?: string
  /** The OAuth client that the caller's token was issued to. */
  clientId?: string
  /** The JSON-RPC error code, if the response is an error. */
  code?: number
}

/** The facts of a served message for the audit trail, telemetry and the limits; never for the log. */
export interface RequestFacts {
  arguments?: unknown
  /** The client of a modern request. */
  client?: Implementation
  isToolError?: boolean
  /** For a server of another SDK: whether it listed the tool or prompt. */
  isListed?: () => boolean
  /** Set if the client disconnected while the call's code still runs. */
  rest?: Rest
}

/** Code that still runs after its call was answered. */
export interface Rest {
  /** Settles when the code ends. */
  readonly work: Promise<unknown>
  /** The call's deadline, in milliseconds since the epoch. After it, the code is no longer awaited. */
  readonly until: number
}

/** Frees a call's concurrency slot: immediately, or when `rest` is done. */
export type Leave = (rest?: Rest) => void

/** Without a limit there is nothing to free. */
export const LEAVE: Leave = () => {}

/** The check of a caller, again. */
export interface Recheck {
  readonly everyMs: number
  /** `unknown`: it cannot be told now. Never rejects. */
  verdict(): Promise<'admitted' | 'refused' | 'unknown'>
}

/** The sender of a message: an admitted HTTP request, or the one client of stdio. */
export interface Admitted {
  /** Its body was already read. */
  readonly request: Request
  /** Those of `request`, of which a runtime is asked once: each property of a `Request` is a call into it. */
  readonly sent: Headers
  readonly platform: RequestPlatform
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Headers that every response carries. */
  readonly headers: { readonly [name: string]: string }
  readonly auth: AuthInfo | undefined
  /** Undefined if the server has no `auth`. */
  readonly access: Access | undefined
  /** Checks the caller again while a stream is open. Undefined: only its expiry ends one. */
  readonly recheck?: Recheck
  /** Messages over HTTP have headers, which must match the body; on stdio there are none. */
  readonly isHttp: boolean
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** How many messages of this request are counted by the rate limiter but not yet served; initially one per HTTP request. */
  readonly counted: { messages: number }
  /** If it is part of a batch that a transport has taken apart: what the answers to all of it share. */
  readonly answers?: BatchAnswers
}

/** One message on its way through the engine. */
export interface Incoming extends Admitted {
  /** Undefined for a batch as a whole, and for a body that is not a message. */
  readonly message: Message | undefined
  /** Decided by `eraOf`. A batch is legacy. */
  readonly era: Era
  readonly record: RequestRecord
  readonly facts: RequestFacts
  /** `MCP-Protocol-Version`; null without the header. */
  readonly versionHeader: string | null
  /** The envelope of a modern request, once it is checked. */
  envelope: Envelope | undefined
  /** The definition for this message. Undefined: the server's. */
  definition: Definition | undefined
  /** Called when a response that became a stream has ended, with its status: 499 if the client disconnected. */
  readonly onStreamEnd: (status: number) => void
}

/** The answer to a message that is refused because of a limit. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers: { readonly [name: string]: string }
}

/**
 * The limits and the log that every message passes, on every transport and for every kind of server, also in a batch or a session
 * and on stdio.
 */
export interface Checkpoint {
  /** Counts a message for its caller's rate limit. */
  count(message: Admitted): undefined | Refusal | Promise<undefined | Refusal>
  /** Counts a message and starts it. The returned function is called once, when the message is answered. */
  enter(message: Admitted): Leave | Refusal | Promise<Leave | Refusal>
  /** Records a finished message in the log and the audit trail. */
  finish(message: Incoming, status: number, extent: Extent): void
}

/** A batch has one line in the log for all of its messages, and an entry in the audit trail for each of its parts. */
export type Extent = 'single' | 'part' | 'batch'

/** Serves what legacy clients subscribe to. Created by `createSubscriptions`, or by a store with its own implementation. */
export interface Subscriptions {
  /** `resources/subscribe` or `resources/unsubscribe`. @throws ProtocolError if there are too many, or the store is down. */
  change(method: string, uri: string, incoming: Incoming, server: StreamServer): Promise<void>
  /** GET opens the stream of a session, DELETE ends the session. */
  handleStream(incoming: Incoming, server: StreamServer): Reply | Promise<Reply>
  /** Called by the server that takes it: it tells its store. */
  attach?(owner: StoreOwner): void
}

/** The parts of a server that streams of changes need. */
export interface StreamServer {
  /** The session id that the client sent, if it is sealed and the caller's own. */
  readonly session: string | undefined
  readonly options: EngineOptions
  readonly open: OpenStream
}

/** What a stream sends besides changes. */
export interface StreamTexts {
  readonly acknowledged: string
  readonly ended: string
  /** The `_meta` of each notification. */
  readonly meta: Meta | undefined
  /** The notification of a change that is not one of MCP's own lists and resources. */
  readonly translate?: Extensions['translate'] | undefined
}

/**
 * Opens a stream, within the limits for all of them.
 *
 * @param wanted What it listens to; may be changed later. @param join The bus.
 * @throws ProtocolError if there are too many, or the bus is down.
 */
export type OpenStream = (
  wanted: Wanted,
  texts: StreamTexts,
  incoming: Incoming,
  join?: Feed['join'],
) => Promise<Reply>
