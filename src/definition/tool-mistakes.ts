/** Recognizes tools written for older versions of other frameworks, and refuses them with a message that says what to write instead. */

import { isThenable } from './hook.ts'
import type { CompiledSchema } from './schema.ts'

/** `({ context }) => …`, also as a method, and after a minifier, which keeps property names. */
const DESTRUCTURES_CONTEXT = /^[\w\s]*\(\s*{([^{}]*,)?\s*context\s*[,:=}]/

/** How Mastra recognizes its tools, also across copies of its package. */
const MASTRA_TOOL = 'mastra.core.tool.Tool'

/** What names may consist of (MCP 2025-11-25 and 2026-07-28, "Tool Names"). The specification only recommends it, but clients refuse others. */
const NAME = /^[\w.-]{1,128}$/

/** A warning about a name that clients may refuse; undefined for any other name. */
export function nameMistake(name: string): string | undefined {
  if (NAME.test(name)) return undefined
  return `Tool ${JSON.stringify(name)}: many clients refuse this name. Use 1 to 128 of the characters A-Z, a-z, 0-9, "_", "-" and ".".`
}

/** @throws TypeError for a tool of Mastra, with the AI SDK's `parameters`, with an approval option, or without `execute`. */
export function checkToolShape(name: string, tool: object | undefined): void {
  const { execute, inputSchema, parameters, needsApproval, requireApproval } = (tool ?? {}) as {
    [member: string]: unknown
  }
  if (typeof execute !== 'function') {
    const other = ['handler', 'callback', 'run'].find(
      (one) => typeof Reflect.get(tool ?? {}, one) === 'function',
    )
    const remedy = isThenable(tool)
      ? ': it is a promise, write await before it'
      : typeof tool === 'function'
        ? ': write createTool({ id, execute })'
        : ''
    throw new TypeError(
      `Tool "${name}" has no execute function${other === undefined ? remedy : `: name "${other}" so`}.`,
    )
  }
  if (Symbol.for(MASTRA_TOOL) in tool!)
    throw new TypeError(`Tool "${name}" was made by @mastra/core: import MCPServer from mayfly-mcp/mastra.`)
  if (parameters !== undefined && inputSchema === undefined)
    throw new TypeError(`Tool "${name}" has "parameters": write "inputSchema".`)
  const approval = needsApproval ? 'needsApproval' : 'requireApproval'
  if (needsApproval || requireApproval)
    throw new TypeError(
      `Tool "${name}" has "${approval}", which is not supported: ask with ctx.elicit in execute.`,
    )
}

/** @throws TypeError for `execute({ context })` if the input cannot have a member of that name. */
export function checkExecute(name: string, execute: unknown, input: CompiledSchema): void {
  if (!DESTRUCTURES_CONTEXT.test(String(execute))) return
  const { properties, additionalProperties = false } = input.jsonSchema
  const isOpen = properties === undefined || additionalProperties !== false
  if (isOpen || Object.hasOwn(properties as object, 'context')) return
  throw new TypeError(
    `Tool "${name}" reads its input from "context", as in Mastra 0.x: write execute(input, context).`,
  )
}
