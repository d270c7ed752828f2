/** What a message gets that names an item of a server whose lists are not known, because it has not answered since this one started. */
import { MCPClientError } from '../client/errors.ts'
import type { Definition } from '../definition/compile.ts'
import { compileTool } from '../definition/compiled-tool.ts'
import type { GatewayMessage } from '../request/gateway-support.ts'
import { toCallerError, toCallerResult } from './failure.ts'
import type { Upstream } from './upstream.ts'

/** The definition, in which the item fails and names its server instead of being unknown. */
export function withUnavailable(
  merged: Definition,
  { method, params }: GatewayMessage,
  upstream: Upstream,
): Definition {
  const { name, uri } = params
  const error = toCallerError(
    upstream,
    new MCPClientError('CONNECTION_FAILED', `MCP server "${upstream.name}" has not answered yet.`),
  )
  const { scopes } = upstream.server
  const guard = Array.isArray(scopes) ? { scopes } : {}
  const fail = (): never => {
    throw error
  }
  if (method === 'tools/call' && typeof name === 'string' && !merged.tools.has(name)) {
    const tool = compileTool(name, { id: name, ...guard, execute: () => toCallerResult(error) })
    return { ...merged, tools: new Map([...merged.tools, [name, tool]]) }
  }
  const { prompts, resources } = merged
  if (method === 'prompts/get' && typeof name === 'string' && !prompts.declared.has(name)) {
    const prompt = { name, prompt: { name }, json: '', args: undefined, required: [] }
    const declared = new Map([...prompts.declared, [name, { ...prompt, config: { ...guard, get: fail } }]])
    return { ...merged, prompts: { ...prompts, declared } }
  }
  const isKnown =
    typeof uri !== 'string' ||
    resources.fixed.has(uri) ||
    resources.templates.some(({ template }) => template.match(uri) !== undefined)
  if (method !== 'resources/read' || isKnown) return merged
  const resource = { resource: { uri, name: uri }, json: '', config: { uri, ...guard, read: fail } }
  return { ...merged, resources: { ...resources, fixed: new Map([...resources.fixed, [uri, resource]]) } }
}
