/** The error of a server behind for its caller: the server's name and a code. Only the operator sees addresses and causes. */
import type { MCPClientError, MCPClientErrorCode } from '../client/errors.ts'
import { printable } from '../client/printable.ts'
import type { CallToolResult, Meta } from '../definition/content.ts'
import { isA, memberOf, textOf } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

/** The key of `_meta`, and of `data` in an error, that says which server failed. */
export const FAILED = 'mayfly/upstream'

/** A server's refusals that are written for its client. */
const PASSED_ON: readonly number[] = [
  ErrorCode.invalidParams,
  ErrorCode.methodNotFound,
  ErrorCode.resourceNotFound,
]
/** MCP 2025-11-25, "URL elicitation required": `data` has the URLs. */
const URL_NEEDED = -32042

const TEXTS: { readonly [code in MCPClientErrorCode]?: string } = {
  CONNECTION_FAILED: 'cannot be reached: try again later',
  UNAUTHORIZED: 'does not accept the credentials of this call',
  TIMEOUT: 'did not answer in time: try again later',
  RESPONSE_TOO_LARGE: 'answered with more than this server passes on',
  UNSUPPORTED: 'does not support this',
}

/** The error for the caller. */
export function toCallerError(
  { name: server, host }: { readonly name: string; readonly host: string | undefined },
  error: MCPClientError,
): ProtocolError {
  const refusal = findRefusal(error, host)
  if (refusal !== undefined) return refusal
  const { code } = error
  const text = `The server "${server}" behind this one ${TEXTS[code] ?? 'failed'}.`
  return new ProtocolError(ErrorCode.internal, text, { [FAILED]: { server, code } }, { cause: error })
}

/** The same for a tool, whose failures are results. A refusal of the server stays an error. */
export function toCallerResult(error: ProtocolError): CallToolResult {
  if (error.code !== ErrorCode.internal) throw error
  return { content: [{ type: 'text', text: error.message }], isError: true, _meta: error.data as Meta }
}

/** Whether the operator gets a report: not for a call that its caller ended, and not for a refusal. */
export function isFault(error: MCPClientError): boolean {
  return error.code !== 'ABORTED' && findRefusal(error) === undefined
}

function findRefusal({ cause }: MCPClientError, host?: string): ProtocolError | undefined {
  const code = isA(cause, Error) ? memberOf(cause, 'code') : undefined
  if (typeof code !== 'number') return undefined
  const message = textOf(cause)
  const text = printable(host === undefined ? message : message.replaceAll(host, '…'))
  if (code === URL_NEEDED || code === ErrorCode.missingClientCapability)
    return new ProtocolError(code, text, memberOf(cause, 'data'))
  return PASSED_ON.includes(code) ? new ProtocolError(code, text) : undefined
}
