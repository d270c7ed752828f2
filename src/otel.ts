/**
 * OpenTelemetry: one server span per request, following the semantic conventions for MCP. A separate entry point, so that it is
 * loaded only if it is used.
 */
import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { clip } from './protocol/describe.ts'
import type { Span, Telemetry, TracedOutcome, TracedRequest } from './request/telemetry.ts'

export type { Span, Telemetry, TracedOutcome, TracedRequest } from './request/telemetry.ts'

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** Default: the tracer `mayfly-mcp` of the registered provider. */
  tracer?: Tracer
}

/**
 * Creates a span per request, as a child of the span named in the request's `_meta` (`traceparent`, `tracestate`, `baggage`), else in
 * its headers. Spans contain names, ids and codes, cut at 256 characters; never arguments, results or tokens.
 *
 * ```ts
 * new MCPServer({ …, telemetry: openTelemetry() })
 * ```
 */
export function openTelemetry({ tracer }: OpenTelemetryOptions = {}): Telemetry {
  return {
    start: (request) => {
      const parent = parentOf(request)
      const span = (tracer ?? trace.getTracer('mayfly-mcp')).startSpan(
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
        },
      } satisfies Span
    },
  }
}

const FROM_META: TextMapGetter<{ readonly [name: string]: unknown }> = {
  keys: (meta) => Object.keys(meta),
  get: (meta, key) => (typeof meta[key] === 'string' ? meta[key] : undefined),
}

const FROM_HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => [...headers.keys()],
  get: (headers, key) => headers.get(key) ?? undefined,
}

/** `_meta` takes precedence over the headers, which proxies also write. */
function parentOf({ params, headers }: TracedRequest) {
  const meta = params._meta
  if (typeof meta === 'object' && meta !== null && 'traceparent' in meta) {
    return propagation.extract(ROOT_CONTEXT, meta as { readonly [name: string]: unknown }, FROM_META)
  }
  return propagation.extract(ROOT_CONTEXT, headers, FROM_HEADERS)
}

/** As in the log, so that a client cannot fill the traces with invented text. */
function clipped(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? clip(value) : value]),
  )
}

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
