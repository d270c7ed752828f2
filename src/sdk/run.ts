/**
 * The seam to a server that is not ours: one HTTP request in, its response out, and a way to be done with it.
 */
import type { AuthInfo } from '../definition/context.ts'

export interface ForeignCall {
  /** A separate request: its body can be read, and its signal aborts when the call is over, whatever ended it. */
  readonly request: Request
  /** The same body, parsed. */
  readonly message: unknown
  readonly era: 'modern' | 'legacy'
  /** All of the answer in one piece is wanted. */
  readonly isWhole: boolean
  readonly auth: AuthInfo | undefined
  readonly env: unknown
  readonly waitUntil: (promise: Promise<unknown>) => void
}

export interface ForeignAnswer {
  readonly response: Response
  /** Rejects where the server breaks before its response has ended. */
  readonly broken?: Promise<never>
  /** Called once, when the response is not read any more. */
  close(): unknown
}

/** Runs a fresh server for one request. A `ProtocolError` it throws reaches the client; anything else is reported. */
export type RunForeign = (call: ForeignCall) => Promise<ForeignAnswer>

/** What is read of an answer, as long as its server does not break. */
export function unbroken<Value>({ broken }: ForeignAnswer, read: Promise<Value>): Promise<Value> {
  return broken === undefined ? read : Promise.race([read, broken])
}

/** Errors while a server closes change nothing any more. */
export async function closeQuietly(answer: ForeignAnswer | undefined): Promise<void> {
  try {
    await answer?.close()
  } catch {
    // The answer was sent, so the error cannot be reported to the client.
  }
}
