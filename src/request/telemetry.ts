/**
 * The interface to a tracing library: it draws a span around each request.
 */

/** One JSON-RPC request, as far as it is known before it is served. */
export interface TracedRequest {
  readonly id: string | number
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
  readonly headers: Headers
  /** Milliseconds since the epoch at which it arrived. */
  readonly startedAt: number
}

/** What came of it. */
export interface TracedOutcome {
  readonly status: number
  readonly protocolVersion?: string | undefined
  readonly sessionId?: string | undefined
  /** The JSON-RPC error code, where the answer is an error. */
  readonly code?: number | undefined
  /** The tool has failed; the protocol has not. */
  readonly isToolError?: boolean | undefined
}

export interface Span {
  /** Runs `work` so that its spans become children of this one. */
  run<Result>(work: () => Result): Result
  /** Called once, when the last byte of the answer is there. */
  end(outcome: TracedOutcome): void
}

export interface Telemetry {
  start(request: TracedRequest): Span
}
