/** Arguments that are repeated in headers (MCP 2026-07-28, "Custom Headers from Tool Parameters", "Value Encoding"). */
import { asObject, isObject, type Json } from './json.ts'

const MAX_DEPTH = 8
const MAX_HEADERS = 50

export function paramHeaders(schema: unknown, args: Json): Record<string, string> {
  const headers: Record<string, string> = {}
  const visit = (node: unknown, value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH || value === undefined || value === null || !isObject(node)) return
    const name = node['x-mcp-header']
    const isScalar = ['string', 'number', 'boolean'].includes(typeof value)
    // The names come from the server, and must be HTTP tokens (RFC 9110 §5.6.2).
    if (typeof name === 'string' && isScalar && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/.test(name))
      if (Object.keys(headers).length < MAX_HEADERS)
        headers[`mcp-param-${name}`] = encodeHeader(String(value))
    const values = asObject(value)
    for (const key of Object.keys(values).slice(0, 200)) {
      const properties = asObject(node.properties)
      if (Object.hasOwn(properties, key)) visit(properties[key], values[key], depth + 1)
    }
  }
  visit(schema, args, 0)
  return headers
}

/** Base64 for values that a header cannot contain. */
export function encodeHeader(value: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(value) && value.trim() === value && !/^=\?base64\?.*\?=$/.test(value)
  if (isPlain) return value
  const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}
