/**
 * Draws a span around each request, whoever serves it.
 */
import type { Telemetry } from '../request/telemetry.ts'
import { SSE_HEADERS } from './exchange.ts'
import type { Message } from './json-rpc.ts'
import type { Incoming } from './options.ts'

export type ServeMessage = (message: Message, incoming: Incoming) => Promise<Response>

/** A span for each request; notifications and responses are part of others. */
export function createTraced(telemetry: Telemetry, serveMessage: ServeMessage): ServeMessage {
  return async (message, incoming) => {
    if (message.kind !== 'request') return serveMessage(message, incoming)
    const { record, facts, startedAt, request } = incoming
    const { id, method, params } = message
    const span = telemetry.start({ id, method, params, headers: request.headers, startedAt })
    const end = (status: number): void =>
      span.end({
        status,
        protocolVersion: record.protocolVersion,
        sessionId: request.headers.get('mcp-session-id') ?? undefined,
        code: record.code,
        isToolError: facts.isToolError,
      })
    const onStreamEnd = (): void => {
      end(200)
      incoming.onStreamEnd()
    }
    const response = await span.run(() => serveMessage(message, { ...incoming, onStreamEnd }))
    if (response.headers.get('content-type') !== SSE_HEADERS['content-type']) end(response.status)
    return response
  }
}
