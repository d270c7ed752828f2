/**
 * Draws a span around each request, whoever serves it.
 */
import type { ReportError } from '../request/options.ts'
import type { Span, Telemetry, TracedRequest } from '../request/telemetry.ts'
import { isStream } from './exchange.ts'
import type { Message } from './json-rpc.ts'
import type { Incoming } from './options.ts'

export type ServeMessage = (message: Message, incoming: Incoming) => Promise<Response>

/** Where a span cannot be drawn. */
const NO_SPAN: Span = { run: (work) => work(), end: () => {} }

/** A span for each request; notifications and responses are part of others. What `telemetry` throws is reported, and ends no call. */
export function createTraced(
  telemetry: Telemetry,
  serveMessage: ServeMessage,
  reportError: ReportError,
): ServeMessage {
  return async (message, incoming) => {
    if (message.kind !== 'request') return serveMessage(message, incoming)
    const { record, facts, startedAt, request, requestId } = incoming
    const { id, method, params } = message
    const report = (error: unknown): void => reportError(error, { requestId, telemetry: true })
    const span = start(telemetry, { id, method, params, headers: request.headers, startedAt }, report)
    const end = (status: number): void => {
      try {
        span.end({
          status,
          protocolVersion: record.protocolVersion,
          sessionId: request.headers.get('mcp-session-id') ?? undefined,
          code: record.code,
          isToolError: facts.isToolError,
        })
      } catch (error) {
        report(error)
      }
    }
    const onStreamEnd = (): void => {
      end(200)
      incoming.onStreamEnd()
    }
    const response = await run(span, () => serveMessage(message, { ...incoming, onStreamEnd }), report)
    if (!isStream(response)) end(response.status)
    return response
  }
}

function start(telemetry: Telemetry, request: TracedRequest, report: (error: unknown) => void): Span {
  try {
    return telemetry.start(request)
  } catch (error) {
    report(error)
    return NO_SPAN
  }
}

/** Never serves twice: what is served never rejects, so what is thrown is the span's own. */
async function run(
  span: Span,
  serve: () => Promise<Response>,
  report: (error: unknown) => void,
): Promise<Response> {
  let served: Promise<Response> | undefined
  try {
    return await span.run(() => {
      served = serve()
      return served
    })
  } catch (error) {
    report(error)
    return served ?? serve()
  }
}
