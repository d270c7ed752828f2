/** A request to our own server, before it runs. */
import type { ClientCapabilities, Era, Implementation, LogLevel } from '../definition/context.ts'
import type { Journal } from '../interaction/journal.ts'
import type { Params } from '../request/params.ts'
import type { RpcId } from './json-rpc.ts'

/** A request as either era states it. */
export interface Call {
  readonly id: RpcId
  readonly method: string
  readonly params: Params
  readonly era: Era
  readonly protocolVersion: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  readonly logLevel: LogLevel | undefined
  readonly sessionId: string | undefined
  /** What came with the request from earlier rounds of the same call. */
  readonly rounds: EarlierRounds | undefined
}

/** What a request brought from an earlier round of the same call. */
export interface EarlierRounds {
  /** Opened before any user code runs; empty until then, and where nothing was sealed. */
  journal: Journal
  /** What the client answered, by question key. */
  responses: { readonly [key: string]: unknown }
  /** The sealed state, where one came. */
  readonly sealed: string | undefined
}
