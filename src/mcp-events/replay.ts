/** What `replay` of an event gets and returns. */
import type { AuthInfo } from '../definition/context.ts'

/** What `replay` is asked for. */
export interface ReplayQuery<Args = unknown> {
  /** What it returned last. Null: no events are wanted, only the cursor of now. */
  readonly cursor: string | null
  /** The arguments of the subscription, as `inputSchema` returned them. */
  readonly args: Args
  /** Events to return at most. 0 with a cursor of null. */
  readonly limit: number
}

/** Who asks, and until when. */
export interface ReplayContext {
  /** The caller as one string, the same at every request; empty without authentication. */
  readonly principal: string
  /** The verified token's info, as tools have it. Undefined without authentication. */
  readonly auth: AuthInfo | undefined
  /** The platform's bindings. */
  readonly env: unknown
  /** Aborts after 10 seconds, and when the client goes away. */
  readonly signal: AbortSignal
}

/** An event of the past. */
export interface ReplayedEvent<Data = object> {
  /** The same as of `emit`, if it is emitted too: by it clients drop what they have. */
  readonly eventId: string
  readonly timestamp: Date | string
  readonly data: Data
}

/** What `replay` returns. */
export interface ReplayPage<Data = object> {
  /** The oldest first. */
  readonly events: readonly ReplayedEvent<Data>[]
  /** After the last of them: at most 1024 bytes. It is sent to the client, who may change it. */
  readonly cursor: string
  /** Whether more can be read at once. Default false. */
  readonly hasMore?: boolean
  /** Whether events after the cursor that was given are gone. Default false. */
  readonly truncated?: boolean
}
