/**
 * `x-mcp-header`: tool parameters repeated in `Mcp-Param-*` headers (MCP 2026-07-28, Streamable HTTP, "Custom
 * Headers from Tool Parameters"). This file finds and checks the declarations; `protocol/` compares the values.
 */
import type { JsonSchema } from './schema.ts'

export interface ParamHeader {
  /** Property names from the root of the arguments. */
  readonly path: readonly string[]
  /** The header name in lower case, `mcp-param-region`. */
  readonly header: string
  readonly isNumeric: boolean
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = new Set(['string', 'integer', 'boolean'])

/** The parameters that are sent as headers, or why clients would drop a tool with this schema. */
export type ParamHeaders =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  | { readonly ok: false; readonly reason: string }

/**
 * Finds the parameters that are sent as headers. Only properties reached through `properties` alone count; an annotation anywhere
 * else, or an invalid one, makes the tool invalid. Recursive: check the depth of an untrusted schema first.
 */
export function findParamHeaders(schema: JsonSchema): ParamHeaders {
  const headers: ParamHeader[] = []
  const names = new Set<string>()
  const declare = (name: unknown, type: unknown, path: readonly string[]): string | undefined => {
    if (typeof name !== 'string' || !TOKEN.test(name))
      return `x-mcp-header ${JSON.stringify(name)} is not an HTTP token`
    if (typeof type !== 'string' || !TYPES.has(type))
      return 'x-mcp-header needs a string, integer or boolean parameter'
    const header = `mcp-param-${name.toLowerCase()}`
    if (names.has(header)) return `x-mcp-header "${name}" is used twice`
    names.add(header)
    headers.push({ path, header, isNumeric: type === 'integer' })
    return undefined
  }
  const visit = (node: unknown, path: readonly string[], isReachable: boolean): string | undefined => {
    if (node === null || typeof node !== 'object') return undefined
    const { 'x-mcp-header': name, properties, type } = node as Record<string, unknown>
    if (name !== undefined) {
      if (!isReachable) return 'x-mcp-header is only allowed on properties reached through "properties"'
      const reason = declare(name, type, path)
      if (reason !== undefined) return reason
    }
    for (const [keyword, child] of Object.entries(node)) {
      const reason = keyword === 'properties' ? undefined : visit(child, path, false)
      if (reason !== undefined) return reason
    }
    if (properties === null || typeof properties !== 'object') return undefined
    for (const [property, child] of Object.entries(properties)) {
      const reason = visit(child, [...path, property], isReachable)
      if (reason !== undefined) return reason
    }
    return undefined
  }
  const reason = visit(schema, [], true)
  return reason === undefined ? { ok: true, headers } : { ok: false, reason }
}

/**
 * The parameters that are sent as headers.
 *
 * @throws TypeError naming the tool, for an annotation that would make clients drop it.
 */
export function compileParamHeaders(schema: JsonSchema, toolName: string): readonly ParamHeader[] {
  const found = findParamHeaders(schema)
  if (found.ok) return found.headers
  throw new TypeError(`inputSchema of tool "${toolName}": ${found.reason}.`)
}
