/**
 * The interface to a server of another SDK: takes an HTTP request, returns its response, and can be closed.
 */
import type { AuthInfo, Era } from '../definition/context.ts'

export interface ForeignCall {
  /** A separate request: its body can be read, and its signal aborts when the call is over, for any reason. */
  readonly request: Request
  /** The same body, parsed. */
  readonly message: unknown
  readonly era: Era
  /** Whether a buffered answer is needed. */
  readonly isBuffered: boolean
  readonly auth: AuthInfo | undefined
  readonly env: unknown
  /** The caller's address, if the platform reports it. */
  readonly clientAddress: string | undefined
  /** The part of the path that the platform adds. */
  readonly prefix: string
  readonly waitUntil: (promise: Promise<unknown>) => void
}

export interface ForeignAnswer {
  readonly response: Response
  /** Rejects if the server fails before its response has ended. */
  readonly broken?: Promise<never>
  /** Called once, when the response is no longer read. */
  close(): unknown
}

/** Runs a fresh server for one request. A `ProtocolError` reaches the client; any other error is reported. */
export type RunForeign = (call: ForeignCall) => Promise<ForeignAnswer>

/** Resolves like `read`, unless the server fails first. */
export function unbroken<Value>({ broken }: ForeignAnswer, read: Promise<Value>): Promise<Value> {
  return broken === undefined ? read : Promise.race([read, broken])
}

/** Ignore errors during shutdown. */
export async function closeQuietly(answer: ForeignAnswer | undefined): Promise<void> {
  try {
    await answer?.close()
  } catch {
    // The answer was already sent, so the error cannot be reported to the client.
  }
}
