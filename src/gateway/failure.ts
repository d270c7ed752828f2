/** The error of a server behind for its caller: the server's name and a code. Only the operator sees addresses and causes. */

import { mayVisit } from '../client/allowed-urls.ts'
import { MCPClientError, type MCPClientErrorCode } from '../client/errors.ts'
import { printable } from '../client/printable.ts'
import type { CallToolResult, Meta } from '../definition/content.ts'
import { isA, memberOf, textOf } from '../definition/error-text.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Context } from '../request/context.ts'
import type { ReportError } from '../request/options.ts'

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
  { name: server, url }: { readonly name: string; readonly url: URL | undefined },
  error: MCPClientError,
): ProtocolError {
  const refusal = findRefusal(error, url)
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

/** What a call is ended with, after this error while its server was asked. Reports the server's faults. */
export function toCallEnd(
  thrown: unknown,
  upstream: { readonly name: string; readonly url: URL | undefined },
  { signal, requestId }: Context,
  reportError: ReportError,
): unknown {
  if (signal.aborted) return signal.reason
  if (!isA(thrown, MCPClientError)) return thrown
  if (isFault(thrown)) reportError(thrown, { gateway: upstream.name, requestId })
  return toCallerError(upstream, thrown)
}

/** Whether the operator gets a report: not for a call that its caller ended, and not for a refusal. */
function isFault(error: MCPClientError): boolean {
  return error.code !== 'ABORTED' && findRefusal(error) === undefined
}

function findRefusal({ cause }: MCPClientError, url?: URL): ProtocolError | undefined {
  const code = isA(cause, Error) ? memberOf(cause, 'code') : undefined
  if (typeof code !== 'number') return undefined
  const text = toCallerText(textOf(cause), url)
  if (code !== URL_NEEDED && code !== ErrorCode.missingClientCapability)
    return PASSED_ON.includes(code) ? new ProtocolError(code, text) : undefined
  const given = memberOf(cause, 'data')
  const data = code === URL_NEEDED ? toElicitations(given) : toCapabilities(given)
  return data && new ProtocolError(code, text, data)
}

/** The text of a server behind without control characters and its address. */
export function toCallerText(text: string, url: URL | undefined): string {
  return printable(url === undefined ? text : withoutHost(text, url))
}

/** Also without the port, and in another case. A name of one word, such as `search`, is only an address before a port or after `//`. */
function withoutHost(text: string, { hostname }: URL): string {
  const name = hostname.replaceAll(/\W/g, '\\$&')
  const address = /\W/.test(hostname)
    ? `(?<![\\w-])${name}(?::\\d+)?(?![\\w-])`
    : `(?<=//)${name}(?::\\d+)?(?![\\w.-])|(?<![\\w-])${name}:\\d+`
  return text.replaceAll(new RegExp(address, 'gi'), '…')
}

/** MCP 2025-11-25, `URLElicitationRequiredError`. Undefined if none of its URLs may be opened for a user. */
function toElicitations(data: unknown): object | undefined {
  const given = memberOf(data, 'elicitations')
  const elicitations = (Array.isArray(given) ? given : []).flatMap((one: unknown) => {
    const [url, elicitationId, message] = ['url', 'elicitationId', 'message'].map((name) =>
      memberOf(one, name),
    )
    const isKnown = typeof elicitationId === 'string' && typeof message === 'string'
    if (!isKnown || typeof url !== 'string' || !mayVisit(url)) return []
    return [{ mode: 'url', elicitationId, url, message }]
  })
  return elicitations.length > 0 ? { elicitations } : undefined
}

/** MCP 2026-07-28, `MissingRequiredClientCapabilityError`. */
function toCapabilities(data: unknown): object {
  const requiredCapabilities = memberOf(data, 'requiredCapabilities')
  const isObject = typeof requiredCapabilities === 'object' && requiredCapabilities !== null
  return isObject ? { requiredCapabilities } : {}
}
