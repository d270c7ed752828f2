/** A request to an `MCPServer`, before it runs. */
import type { ClientCapabilities, Era, Implementation, LogLevel } from '../definition/context.ts'
import type { Journal } from '../interaction/journal.ts'
import type { Params } from '../request/params.ts'
import type { RpcId } from './json-rpc.ts'

/** A request in the form common to both eras. */
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
  /** The state from earlier rounds of the same call. */
  readonly rounds: EarlierRounds | undefined
}

/** The state from earlier rounds of the same call. */
export interface EarlierRounds {
  /** Filled before any user code runs; empty until then, and if there was no sealed state. */
  journal: Journal
  /** The client's answers, by question key. */
  responses: { readonly [key: string]: unknown }
  /** The sealed state, if the request has one. */
  readonly sealed: string | undefined
}
