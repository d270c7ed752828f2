/** Creates a span for each request, for every kind of server. */
import { callHook } from '../definition/hook.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import type { ReportError } from '../request/options.ts'
import type { Span, Telemetry, TracedRequest } from '../request/telemetry.ts'
import type { Incoming } from './engine-options.ts'
import type { Message } from './json-rpc.ts'
import { isStream, type Reply } from './reply.ts'

export type ServeMessage = (message: Message, incoming: Incoming) => Promise<Reply>

/** Used when no span can be created. */
const NO_SPAN: Span = { run: (work) => work(), end: () => {} }

/** Creates a span for each request; notifications and responses get none. Errors of `telemetry` are reported and do not end calls. */
export function createTraced(
  telemetry: Telemetry,
  serveMessage: ServeMessage,
  reportError: ReportError,
): ServeMessage {
  return async (message, incoming) => {
    if (message.kind !== 'request') return serveMessage(message, incoming)
    const { record, facts, startedAt, sent, requestId, waitUntil } = incoming
    const { id, method, params } = message
    const report = (error: unknown): void => reportError(error, { requestId, telemetry: true })
    const traced = { id, method, params, headers: sent, startedAt, waitUntil }
    const span = start(telemetry, traced, report)
    const end = (status: number): void => {
      const outcome = {
        status,
        protocolVersion: record.protocolVersion,
        sessionId: sent.get('mcp-session-id') ?? undefined,
        code: record.code,
        isToolError: facts.isToolError,
        isListed: facts.isListed?.(),
      }
      callHook(() => span.end(outcome), report)
    }
    const onStreamEnd = (status: number): void => {
      end(status)
      incoming.onStreamEnd(status)
    }
    const reply = await run(span, () => serveMessage(message, { ...incoming, onStreamEnd }), report)
    if (!isStream(reply)) end(reply.status)
    return reply
  }
}

function start(telemetry: Telemetry, request: TracedRequest, report: (error: unknown) => void): Span {
  let span: Span | undefined
  callHook(() => {
    span = telemetry.start(request)
    return span
  }, report)
  return typeof span?.run === 'function' ? span : NO_SPAN
}

/** Never serves twice: `serve` never rejects, so an error comes from the span. */
async function run(
  span: Span,
  serve: () => Promise<Reply>,
  report: (error: unknown) => void,
): Promise<Reply> {
  let served: Promise<Reply> | undefined
  try {
    const running = span.run(() => {
      served ??= serve()
      return served
    })
    if (served === undefined) await withTimeout(running, ANSWER_TIMEOUT_MS, 'span of "telemetry"')
    else Promise.resolve(running).catch(report)
  } catch (error) {
    report(error)
  }
  served ??= serve()
  return served
}
