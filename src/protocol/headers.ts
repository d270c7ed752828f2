/**
 * Checks the request metadata headers of 2026-07-28 against the body (Streamable HTTP, "Server Validation"). Each check throws
 * `-32020` with HTTP 400.
 */
import { fromBase64 } from '../definition/base64.ts'
import type { ParamHeader } from '../definition/param-header.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Params } from '../request/params.ts'

const SENTINEL_START = '=?base64?'
const SENTINEL_END = '?='
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DECIMAL = /^-?\d+(\.\d+)?$/
/** Visible ASCII, space and tab: the characters allowed in a header value (RFC 9110 §5.5). */
const HEADER_SAFE = /^[\t\x20-\x7e]*$/

/** The parameter that `Mcp-Name` repeats. */
const NAME_SOURCE: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/** Whether the headers are required, as they are for modern requests. */
type Presence = 'needed' | 'optional'

/**
 * `Mcp-Method` and `Mcp-Name` must match the body. Modern requests must have them. They are optional for notifications and legacy messages,
 * but a present header must match there, too, since a proxy may filter by it.
 *
 * @param source The parameter that `Mcp-Name` repeats. Default: that of the method, if the protocol names one.
 * @throws ProtocolError `-32020`
 */
export function checkStandardHeaders(
  headers: Headers,
  method: string,
  params: Params,
  presence: Presence,
  source = NAME_SOURCE.get(method),
): void {
  const methodHeader = headers.get('mcp-method')
  if (methodHeader === null && presence === 'needed') throw mismatch('the Mcp-Method header is missing')
  if (methodHeader !== null && methodHeader !== method)
    throw mismatch(`the Mcp-Method header is "${methodHeader}", but the body has "${method}"`)
  if (source === undefined) return
  const value = params[source]
  if (typeof value !== 'string') return // refused with -32602 when the parameters are read
  const nameHeader = headers.get('mcp-name')
  if (nameHeader === null) {
    if (presence === 'optional') return
    throw mismatch('the Mcp-Name header is missing')
  }
  if (decode(nameHeader, 'Mcp-Name') !== value)
    throw mismatch(`the Mcp-Name header does not match params.${source}`)
}

/** `Mcp-Param-*`: one header for each declared parameter that has a value, equal to the argument, and none for the others. */
export function checkParamHeaders(
  headers: Headers,
  declared: readonly ParamHeader[],
  args: unknown,
  presence: Presence = 'needed',
): void {
  for (const { path, header, isNumeric } of declared) {
    const value = valueAt(args, path)
    const sent = headers.get(header)
    const decoded = sent === null ? undefined : decode(sent, header)
    if (value === undefined || value === null) {
      if (decoded === undefined) continue
      throw mismatch(`there is a ${header} header, but no argument "${path.join('.')}"`)
    }
    if (typeof value === 'object') continue // refused by the schema
    if (decoded === undefined) {
      if (presence === 'optional') continue
      throw mismatch(`the ${header} header is missing`)
    }
    const isEqual =
      isNumeric && typeof value === 'number' && DECIMAL.test(decoded)
        ? Number(decoded) === value
        : decoded === String(value)
    if (!isEqual) throw mismatch(`the ${header} header does not match the argument "${path.join('.')}"`)
  }
}

export function mismatch(reason: string): ProtocolError {
  return new ProtocolError(ErrorCode.headerMismatch, `Header mismatch: ${reason}.`, undefined, {
    status: 400,
  })
}

/** The value of a header, decoded if it is in the Base64 form. */
function decode(value: string, header: string): string {
  if (!HEADER_SAFE.test(value))
    throw mismatch(`the ${header} header has characters that require the Base64 form`)
  if (!(value.startsWith(SENTINEL_START) && value.endsWith(SENTINEL_END))) return value
  const encoded = value.slice(SENTINEL_START.length, -SENTINEL_END.length)
  if (!BASE64.test(encoded)) throw mismatch(`the ${header} header is not valid Base64`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fromBase64(encoded))
  } catch {
    throw mismatch(`the ${header} header is not Base64 of UTF-8`)
  }
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let node = root
  for (const key of path) {
    if (node === null || typeof node !== 'object' || !Object.hasOwn(node, key)) return undefined
    node = (node as Record<string, unknown>)[key]
  }
  return node
}
