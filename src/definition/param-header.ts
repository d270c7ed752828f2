/**
 * `x-mcp-header`: tool parameters mirrored into `Mcp-Param-*` headers (MCP 2026-07-28, Streamable HTTP, "Custom
 * Headers from Tool Parameters"). Here the declarations are found and checked; `protocol/` compares the values.
 */
import type { JsonSchema } from './schema.ts'

export interface ParamHeader {
  /** Property names from the root of the arguments. */
  readonly path: readonly string[]
  /** Lower-case header name, `mcp-param-region`. */
  readonly header: string
  readonly isNumeric: boolean
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = new Set(['string', 'integer', 'boolean'])

/**
 * The parameters that travel as headers. Only properties reached through `properties` alone count; an annotation
 * anywhere else, or one that breaks the rules, would make clients drop the tool.
 *
 * @throws TypeError for such an annotation, naming the tool.
 */
export function compileParamHeaders(schema: JsonSchema, toolName: string): readonly ParamHeader[] {
  const found: ParamHeader[] = []
  const visit = (node: unknown, path: readonly string[], isReachable: boolean): void => {
    if (node === null || typeof node !== 'object') return
    const { 'x-mcp-header': name, properties, type } = node as Record<string, unknown>
    if (name !== undefined) {
      if (!isReachable)
        refuse(toolName, 'x-mcp-header is only allowed on properties reached through "properties"')
      if (typeof name !== 'string' || !TOKEN.test(name))
        refuse(toolName, `x-mcp-header ${JSON.stringify(name)} is not an HTTP token`)
      if (typeof type !== 'string' || !TYPES.has(type))
        refuse(toolName, 'x-mcp-header needs a string, integer or boolean parameter')
      const header = `mcp-param-${(name as string).toLowerCase()}`
      if (found.some((other) => other.header === header))
        refuse(toolName, `x-mcp-header "${name}" is used twice`)
      found.push({ path, header, isNumeric: type === 'integer' })
    }
    for (const [keyword, child] of Object.entries(node)) {
      if (keyword !== 'properties') visit(child, path, false)
    }
    if (properties === null || typeof properties !== 'object') return
    for (const [property, child] of Object.entries(properties)) visit(child, [...path, property], isReachable)
  }
  visit(schema, [], true)
  return found
}

function refuse(toolName: string, reason: string): never {
  throw new TypeError(`inputSchema of tool "${toolName}": ${reason}.`)
}
