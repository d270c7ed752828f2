/**
 * The interface to a tracing library: creates a span for each request.
 */

/** One JSON-RPC request, with what is known before it is served. */
export interface TracedRequest {
  readonly id: string | number
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
  readonly headers: Headers
  /** When it arrived, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** The outcome of a request. */
export interface TracedOutcome {
  readonly status: number
  readonly protocolVersion?: string | undefined
  readonly sessionId?: string | undefined
  /** The JSON-RPC error code, if the response is an error. */
  readonly code?: number | undefined
  /** The tool failed, but not the protocol. */
  readonly isToolError?: boolean | undefined
  /**
   * Whether the server listed the tool or prompt of the request. Only for `fromSdk` and `fromNode`, whose servers may answer any name; an
   * `MCPServer` answers an unknown name with an error.
   */
  readonly isListed?: boolean | undefined
}

/** The span of one request. */
export interface Span {
  /** Runs `work` so that its spans become children of this one. */
  run<Result>(work: () => Result): Result
  /** Called once, after the last byte of the response. */
  end(outcome: TracedOutcome): void
}

/** The `telemetry` option of a server. Its errors are reported and do not end calls. */
export interface Telemetry {
  start(request: TracedRequest): Span
}
