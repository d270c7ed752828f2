/** What a message gets that names an item of a server whose lists are not known, because it has not answered since this one started. */
import { MCPClientError } from '../client/errors.ts'
import type { Definition } from '../definition/compile.ts'
import { compileTool } from '../definition/compiled-tool.ts'
import type { GatewayMessage } from '../request/gateway-support.ts'
import { findResource } from '../request/resources.ts'
import { toCallerError, toCallerResult } from './failure.ts'
import type { GatewayItem } from './options.ts'
import { guardOfUnknown } from './scopes.ts'
import type { Upstream } from './upstream.ts'

/** What a message names: itself, or in its reference if it asks for completions. */
export function targetOf({ method, params }: GatewayMessage): {
  readonly name?: unknown
  readonly uri?: unknown
} {
  return (method === 'completion/complete' ? params.ref : params) ?? {}
}

/**
 * The definition, in which the item fails and names its server instead of being unknown, or that of a later server.
 *
 * @param certain What wins over the server, whatever it has.
 */
export function withUnavailable(
  merged: Definition,
  certain: Definition,
  message: GatewayMessage,
  upstream: Upstream,
): Definition {
  const { method } = message
  const { name, uri } = targetOf(message)
  const error = toCallerError(
    upstream,
    new MCPClientError('CONNECTION_FAILED', `MCP server "${upstream.name}" has not answered yet.`),
  )
  const fail = (): never => {
    throw error
  }
  const guardOf = (...items: GatewayItem[]) => guardOfUnknown(upstream, items, message.caller)
  if (method === 'tools/call' && typeof name === 'string' && !certain.tools.has(name)) {
    const guard = guardOf({ kind: 'tool', name: name.slice(upstream.prefix.length) })
    if (guard === undefined) return merged
    const tool = compileTool(name, { id: name, ...guard, execute: () => toCallerResult(error) })
    return { ...merged, tools: new Map([...merged.tools, [name, tool]]) }
  }
  const { prompts, resources } = merged
  if (method === 'prompts/get' && typeof name === 'string' && !certain.prompts.declared.has(name)) {
    const guard = guardOf({ kind: 'prompt', name: name.slice(upstream.prefix.length) })
    if (guard === undefined) return merged
    const prompt = { name, prompt: { name }, json: '', args: undefined, required: [] }
    const declared = new Map([...prompts.declared, [name, { ...prompt, config: { ...guard, get: fail } }]])
    return { ...merged, prompts: { ...prompts, declared } }
  }
  if (method === 'completion/complete' && typeof uri === 'string') {
    const own = new Set(certain.resources.templates)
    const templates = resources.templates.map((one) => {
      const { complete } = one.config
      if (own.has(one) || complete === undefined || one.config.uriTemplate !== uri) return one
      const failing = Object.fromEntries(Object.keys(complete).map((variable) => [variable, fail]))
      return { ...one, config: { ...one.config, complete: failing } }
    })
    return { ...merged, resources: { ...resources, templates } }
  }
  const isKnown = typeof uri !== 'string' || findResource(certain.resources, uri)?.config !== undefined
  if (method !== 'resources/read' || isKnown) return merged
  const guard = guardOf({ kind: 'resource', name: uri }, { kind: 'template', name: uri })
  if (guard === undefined) return merged
  const resource = { resource: { uri, name: uri }, json: '', config: { uri, ...guard, read: fail } }
  return { ...merged, resources: { ...resources, fixed: new Map([...resources.fixed, [uri, resource]]) } }
}
