/**
 * The interface to a tracing library: creates a span for each request and for each run of a task, and records the deliveries of events.
 */

/** One JSON-RPC request, with what is known before it is served. */
export interface TracedRequest {
  readonly id: string | number
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
  readonly headers: Headers
  /** When it arrived, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Keeps the invocation alive for work that follows `end`. Rejections are reported. */
  readonly waitUntil: (promise: Promise<unknown>) => void
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

/** The span of one request, or of one run of a task. */
export interface Span<Outcome = TracedOutcome> {
  /** Runs `work` so that its spans become children of this one. A run of a task begins at once, also if this does not call `work`. */
  run<Result>(work: () => Result): Result
  /** Called once, after the last byte of the response, or after the last write of the run. */
  end(outcome: Outcome): void
}

/** The `telemetry` option of a server. Its errors are reported and do not end calls. */
export interface Telemetry {
  start(request: TracedRequest): Span
  /** For servers with tasks. Nothing waits for it. */
  readonly tasks?: TaskTelemetry
  /** For servers with events. Nothing waits for it. */
  readonly events?: EventTelemetry
}

/** What a server reports about its tasks. */
export interface TaskTelemetry {
  /** At most 256 characters that identify the trace of a call. They are stored with the task that the call may become. */
  createdBy?(request: Pick<TracedRequest, 'params' | 'headers'>): string | undefined
  startRun?(run: TracedRun): Span<TracedRunOutcome>
  /** A run has died, or did not reach the store for the time of its lease: another one takes its task, or the task fails. */
  recordCrash?(task: TracedTask): void
  /** The tasks that wait for a run, whenever `server.tasks.runDue` looks for them. */
  recordQueue?(queue: TracedQueue): void
}

export interface TracedTask {
  readonly taskId: string
  readonly tool: string
  /** Whether the server defines this tool, so that its name is one of few. */
  readonly isDefined: boolean
}

/** One run of a task. */
export interface TracedRun extends TracedTask {
  /** What `createdBy` returned for its call. */
  readonly createdBy: string | undefined
  /** In milliseconds since the epoch. */
  readonly startedAt: number
  /** Keeps the invocation of the run alive for work that follows `end`. Rejections are reported. */
  readonly waitUntil: (promise: Promise<unknown>) => void
}

export interface TracedRunOutcome {
  /**
   * `suspended`: it sleeps, waits for an event, or was out of time. `released`: it could not begin or go on, because `setup` failed, the
   * tool is unknown, or its code has changed. `lost`: the task was cancelled or has expired, or another run has it.
   */
  readonly outcome: 'completed' | 'failed' | 'input_required' | 'suspended' | 'released' | 'lost'
  /** The code of the error with which the task failed. */
  readonly code?: number | undefined
  /** The task is completed with a result that has `isError`. */
  readonly isToolError?: boolean | undefined
}

export interface TracedQueue {
  /** The server's `id`. */
  readonly server: string
  /** The number of due tasks, or of subscriptions with a delivery that is due. A store may count only some thousands, of subscriptions 1000. */
  readonly due: number
  /** Milliseconds for which the first of them has been due. 0 if there is none. */
  readonly oldestDueMs: number
}

/** What a server reports about the deliveries of its events to webhooks. */
export interface EventTelemetry {
  /** One request with an event was answered, or not. */
  recordDelivery?(delivery: TracedDelivery): void
  /** A delivery was given up: it is a dead letter now. */
  recordGivenUp?(delivery: TracedGivenUp): void
  /** The subscriptions that wait for a delivery, at the beginning of each run. */
  recordQueue?(queue: TracedQueue): void
}

export interface TracedDelivery {
  /** The server's `id`. */
  readonly server: string
  /** The name of the event: one of those of the server. */
  readonly event: string
  /** Why the endpoint did not take it, as its client learns it: `timeout`, `http_5xx` and others. Undefined: it did. */
  readonly error?: string | undefined
  /** The requests with this event to this subscription so far, this one included. */
  readonly tries: number
  /** Milliseconds from the request to its answer. */
  readonly durationMs: number
  /** Milliseconds from the event's timestamp to the answer. */
  readonly ageMs: number
}

export interface TracedGivenUp {
  /** The server's `id`. */
  readonly server: string
  /** The name of the event. */
  readonly event: string
  /** `refused`: by 410 or 413. `expired`: the event was deleted first. */
  readonly reason: 'refused' | 'expired'
}
