/** Which errors a client sees: a `ProtocolError` unchanged, any other error only as `-32603` without details. */
import { isA, textOf } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { ReportError } from '../request/options.ts'
import type { Incoming } from './engine-options.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** A JSON-RPC error response, and the HTTP response that carries it. */
export interface Failure {
  readonly message: string
  readonly status: number
  readonly headers: { readonly [name: string]: string } | undefined
  /** Whether it is a server error, which was reported. */
  readonly isFault: boolean
}

/**
 * Writes the error response of one message, reports errors other than `ProtocolError`, and sets the code for the log. Never throws: an
 * error that cannot be sent (its data is not JSON, or its status or headers are not valid) is reported and becomes `-32603`.
 */
export function toFailure(
  error: unknown,
  id: RpcId | undefined,
  { record, requestId }: Pick<Incoming, 'record' | 'requestId'>,
  reportError: ReportError,
): Failure {
  const report = (fault: unknown): void => reportError(fault, { requestId, method: record.method })
  const known = fromSdk(error)
  if (isA(known, ProtocolError)) {
    try {
      const failure = write(known, id)
      record.code = known.code
      return failure
    } catch (cause) {
      report(new Error(`A ProtocolError could not be sent: ${textOf(cause)}`, { cause: error }))
    }
  } else report(error)
  record.code = ErrorCode.internal
  const message = errorMessage(id, { code: ErrorCode.internal, message: 'Internal error' })
  return { message, status: 200, headers: undefined, isFault: true }
}

/** Converts an `McpError` of the official SDK v1, which is also meant for the client. Other errors are returned unchanged. */
function fromSdk(error: unknown): unknown {
  try {
    const { name, code, message, data } = (error ?? {}) as { [member: string]: unknown }
    if (name !== 'McpError') return error
    return new ProtocolError(code as number, String(message).replace(/^MCP error -?\d+: /, ''), data)
  } catch {
    // Reading its members throws.
    return error
  }
}

/** @throws TypeError for values that JSON or HTTP cannot represent. */
function write({ code, message, data, status, headers }: ProtocolError, id: RpcId | undefined): Failure {
  if (!Number.isSafeInteger(code)) throw new TypeError('its code is not an integer')
  if (status !== 200 && !(Number.isInteger(status) && status >= 400 && status <= 599))
    throw new TypeError('its status is neither 200 nor an error status (400 to 599)')
  // Throws for names and values that HTTP does not allow.
  if (headers !== undefined) new Headers(headers)
  return {
    message: errorMessage(id, { code, message: String(message), data }),
    status,
    headers,
    isFault: false,
  }
}
