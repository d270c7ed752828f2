/**
 * OpenTelemetry: one server span and one measured duration per request, following the semantic conventions for MCP, and the same for each
 * run of a task; metrics of the deliveries of events. A separate entry point, so that it is loaded only if it is used.
 */
import {
  type Attributes,
  context,
  type Meter,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { type Names, refuseUnknown } from './definition/unknown-option.ts'
import { createEventTelemetry } from './otel/events.ts'
import { createFlush } from './otel/flush.ts'
import { clipped, createInstruments, SCOPE, SECONDS } from './otel/instruments.ts'
import { parentOf } from './otel/parent.ts'
import { createTaskTelemetry } from './otel/tasks.ts'
import { clip } from './protocol/describe.ts'
import { LEGACY_VERSIONS, MODERN_VERSIONS } from './protocol/versions.ts'
import type { Span, Telemetry, TracedOutcome, TracedRequest } from './request/telemetry.ts'

export type {
  EventTelemetry,
  Span,
  TaskTelemetry,
  Telemetry,
  TracedDelivery,
  TracedGivenUp,
  TracedOutcome,
  TracedQueue,
  TracedRequest,
  TracedRun,
  TracedRunOutcome,
  TracedTask,
} from './request/telemetry.ts'

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** Default: the tracer `mayfly-mcp` of the registered provider. */
  tracer?: Tracer
  /** Default: the meter `mayfly-mcp` of the registered provider. */
  meter?: Meter
  /**
   * Called after each request and each run of a task, so that spans leave before a serverless platform freezes the process:
   * `() => provider.forceFlush()`. Runs within `waitUntil`, for up to 2 seconds, and never delays a stream; `lambda()` returns its buffered
   * response after it. Its errors are reported, at most once a minute. Default: none, for processes that run on.
   */
  flush?: () => unknown
}

const OPTIONS: Names<OpenTelemetryOptions> = { tracer: 'object', meter: 'object', flush: 'function' }

/**
 * Creates a span per request, as a child of the span in the request's `_meta` (`traceparent`, `tracestate`, `baggage`) or in its headers,
 * and records its duration as `mcp.server.operation.duration` (seconds, from its arrival to the last byte of the response). Spans contain
 * names, ids and codes, truncated to 256 characters. Metrics contain only MCP methods, and names of existing tools and prompts: those that
 * an `MCPServer` answered, or that a server behind `fromSdk` or `fromNode` lists. Neither contains arguments, results or tokens.
 *
 * Creates a span per run of a task, in a trace of its own with a link to the call that created the task, and records
 * `mayfly.tasks.run.duration` (seconds, by `mayfly.tasks.outcome`), `mayfly.tasks.crashes`, and whenever the server looks for due tasks
 * `mayfly.tasks.queue.depth` and `mayfly.tasks.queue.age` (seconds).
 *
 * Records the deliveries of events to webhooks: `mayfly.events.delivery.duration` (seconds, by `error.type`), and of those that were taken
 * `mayfly.events.delivery.age` (seconds) and `mayfly.events.delivery.requests`; `mayfly.events.given_up`; with each run
 * `mayfly.events.queue.depth` and `mayfly.events.queue.age` (seconds).
 *
 * ```ts
 * new MCPServer({ …, telemetry: openTelemetry() })
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  refuseUnknown('openTelemetry', options, OPTIONS)
  const { tracer, meter } = options
  const flush = createFlush(options.flush)
  const record = createRecorder(meter)
  return {
    start: (request) => {
      const parent = parentOf(request)
      const span = (tracer ?? trace.getTracer(SCOPE)).startSpan(
        clip(spanName(request)),
        { kind: SpanKind.SERVER, startTime: request.startedAt, attributes: clipped(attributesOf(request)) },
        parent,
      )
      const own = trace.setSpan(parent, span)
      return {
        run: (work) => context.with(own, work),
        end: (outcome) => {
          span.setAttributes(clipped(outcomeOf(outcome)))
          if (errorType(outcome) !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
          // In the span's context, so that an exemplar can refer to it.
          context.with(own, () => record(request, outcome))
          flush(request)
        },
      } satisfies Span
    },
    tasks: createTaskTelemetry(tracer, meter, flush),
    events: createEventTelemetry(meter),
  }
}

const DURATION = {
  unit: 's',
  description: 'Duration of a request on the server, until its response was sent.',
  advice: { explicitBucketBoundaries: SECONDS },
}

function createRecorder(meter: Meter | undefined): (request: TracedRequest, outcome: TracedOutcome) => void {
  const isKnown = createKnown()
  const histogram = createInstruments(meter, (current) =>
    current.createHistogram('mcp.server.operation.duration', DURATION),
  )
  return (request, outcome) => {
    const seconds = Math.max(0, Date.now() - request.startedAt) / 1000
    histogram().record(seconds, measuredOf(request, outcome, isKnown))
  }
}

type IsKnown = (name: string, outcome: TracedOutcome) => boolean

/** Maximum number of names with separate metrics. */
const MAX_KNOWN = 1000

/**
 * Whether the server has this name: it listed it, or it is an `MCPServer` that answered without a protocol error. Each name is a separate
 * time series, and clients can invent names.
 */
function createKnown(): IsKnown {
  const known = new Set<string>()
  return (name, { code, status, isListed }) => {
    if (isListed !== undefined) return isListed
    if (known.has(name)) return true
    if (code !== undefined || status >= 400 || known.size >= MAX_KNOWN) return false
    known.add(name)
    return true
  }
}

/** The metric's attributes in the conventions, without those that differ for each request. */
function measuredOf(request: TracedRequest, outcome: TracedOutcome, isKnown: IsKnown): Attributes {
  const { method, params } = request
  const version = outcome.protocolVersion
  const { 'gen_ai.tool.name': tool, 'gen_ai.prompt.name': prompt } = attributesOf(request)
  const isNamed = tool !== undefined || prompt !== undefined
  const name = isNamed && isKnown(`${method} ${params.name}`, outcome)
  const type = errorType(outcome)
  return {
    'mcp.method.name': METHODS.includes(method) ? method : '_OTHER',
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(name && tool !== undefined && { 'gen_ai.tool.name': tool }),
    ...(name && prompt !== undefined && { 'gen_ai.prompt.name': prompt }),
    ...(version !== undefined && VERSIONS.includes(version) && { 'mcp.protocol.version': version }),
    ...(outcome.code !== undefined && { 'rpc.response.status_code': String(outcome.code) }),
    ...(type !== undefined && { 'error.type': type }),
  }
}

const VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS]

/** The methods of the protocol and its extensions for tasks and events. Clients can invent others. */
const METHODS: readonly string[] = [
  'completion/complete',
  'events/list',
  'events/poll',
  'events/stream',
  'events/subscribe',
  'events/unsubscribe',
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tools/call',
  'tools/list',
]

function spanName({ method, params }: TracedRequest): string {
  const isNamed = method === 'tools/call' || method === 'prompts/get'
  return isNamed && typeof params.name === 'string' ? `${method} ${params.name}` : method
}

function attributesOf({ id, method, params }: TracedRequest): Attributes {
  const { name, uri } = params
  return {
    'rpc.system': 'jsonrpc',
    'jsonrpc.request.id': String(id),
    'mcp.method.name': method,
    ...(method === 'tools/call' &&
      typeof name === 'string' && { 'gen_ai.tool.name': name, 'gen_ai.operation.name': 'execute_tool' }),
    ...(method === 'prompts/get' && typeof name === 'string' && { 'gen_ai.prompt.name': name }),
    ...(typeof uri === 'string' && { 'mcp.resource.uri': uri }),
  }
}

function outcomeOf(outcome: TracedOutcome): Attributes {
  const { status, protocolVersion, sessionId, code } = outcome
  const type = errorType(outcome)
  return {
    'http.response.status_code': status,
    ...(protocolVersion !== undefined && { 'mcp.protocol.version': protocolVersion }),
    ...(sessionId !== undefined && { 'mcp.session.id': sessionId }),
    ...(code !== undefined && { 'rpc.response.status_code': String(code) }),
    ...(type !== undefined && { 'error.type': type }),
  }
}

function errorType({ status, code, isToolError }: TracedOutcome): string | undefined {
  if (code !== undefined) return String(code)
  if (isToolError) return 'tool_error'
  return status >= 400 ? String(status) : undefined
}
