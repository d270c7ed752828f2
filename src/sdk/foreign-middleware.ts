/**
 * The middleware around a tool call to a server of another SDK: on what is sent to that server, and on what it answers.
 */
import { type CallToolResult, errorResult } from '../definition/content.ts'
import { isA, textOf } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import type { CallContext, ToolMiddleware } from '../definition/middleware.ts'
import { reportThrown } from '../definition/print-error.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { throughMiddleware } from '../definition/through-middleware.ts'
import { forEra, toCallToolResult } from '../definition/tool-result.ts'
import type { Incoming } from '../protocol/engine-options.ts'
import type { RequestMessage } from '../protocol/json-rpc.ts'
import type { ReportError } from '../request/options.ts'
import { ownAuth } from '../request/own-auth.ts'
import { givenRequest } from '../request/platform.ts'
import type { Sent } from './foreign-call.ts'

/** The middleware of a server of another SDK. */
export type ForeignMiddleware = ToolMiddleware<CallContext>

/** Sends a call, and resolves with the server's answer to it. */
type Send = (message: RequestMessage) => Promise<Sent>

/**
 * Resolves with the answer for the client: what the server has sent, if the middleware leaves it as it is.
 *
 * @throws ProtocolError of a middleware, and what `send` throws.
 */
export async function answerThrough(
  use: readonly ForeignMiddleware[],
  message: RequestMessage,
  incoming: Incoming,
  signal: AbortSignal,
  reportError: ReportError,
  send: Send,
): Promise<Sent> {
  const { name } = message.params
  const toolName = typeof name === 'string' ? name : ''
  const given = isObject(message.params.arguments) ? message.params.arguments : {}
  let answer: Sent | undefined
  let fault: { readonly error: unknown } | undefined
  const run = async (_input: unknown, sent: object): Promise<CallToolResult> => {
    try {
      answer = await send(sent === given ? message : withArguments(message, sent))
      if (isObject(answer.result)) return answer.result as unknown as CallToolResult
      throw toError(answer.error)
    } catch (error) {
      fault = { error }
      throw error
    }
  }
  const around = {
    toolName,
    context: toContext(incoming, signal),
    parse: (changed: object) => changed,
    run,
    toJson: (result: CallToolResult) => JSON.stringify(result),
    toResult: (output: unknown) => forEra(toCallToolResult(output, false), incoming.era),
  }
  try {
    const result = await throughMiddleware(use, around, given, given)
    if (answer !== undefined && result === answer.result) return answer
    return toAnswer(message, incoming, result)
  } catch (error) {
    if (fault !== undefined && fault.error === error) {
      if (answer !== undefined) return answer
      throw error
    }
    if (isA(error, ProtocolError)) throw error
    if (!signal.aborted) reportThrown(error, { tool: toolName, requestId: incoming.requestId }, reportError)
    return toAnswer(message, incoming, errorResult(textOf(error)))
  }
}

/** Whether the call is over with this answer: it is an error or a complete result. */
export function isComplete({ result }: Sent): boolean {
  return !isObject(result) || (result.resultType ?? 'complete') === 'complete'
}

function toAnswer({ id }: RequestMessage, { era }: Incoming, result: CallToolResult): Sent {
  return { jsonrpc: '2.0', id, result: { ...(era === 'modern' && { resultType: 'complete' }), ...result } }
}

function withArguments(message: RequestMessage, changed: object): RequestMessage {
  const params = { ...message.params, arguments: changed }
  return { ...message, params, value: { ...(message.value as object), params } }
}

function toError(error: unknown): ProtocolError {
  const { code, message, data } = isObject(error) ? error : {}
  return new ProtocolError(
    Number.isInteger(code) ? (code as number) : ErrorCode.internal,
    typeof message === 'string' ? message : 'Internal error',
    data,
  )
}

function toContext(
  { requestId, era, auth, platform, request, waitUntil }: Incoming,
  signal: AbortSignal,
): CallContext {
  return {
    requestId,
    era,
    auth: auth && ownAuth(auth),
    env: (platform.env ?? {}) as CallContext['env'],
    request: givenRequest(request, platform),
    signal,
    waitUntil,
  }
}
