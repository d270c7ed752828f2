/** Results of tools that cannot be sent. */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { CallToolResult } from '../definition/content.ts'
import { textOf } from '../definition/error-text.ts'
import { isMismatch } from '../definition/tool-result.ts'
import type { Context } from './context.ts'
import type { ReportError } from './options.ts'

/** A result that does not match the tool's outputSchema. The client gets the same text. */
export function reportMismatch(
  result: CallToolResult,
  { name }: CompiledTool,
  { requestId }: Context,
  reportError: ReportError,
): void {
  if (!isMismatch(result)) return
  const text = result.content.map((block) => ('text' in block ? block.text : '')).join('')
  reportError(new TypeError(text), { tool: name, requestId })
}

/** @throws TypeError, naming the tool, if `convert` fails. */
export function sendable<Value>(tool: CompiledTool, convert: () => Value): Value {
  const refuse = (cause: unknown): never => {
    throw notSendable(tool, cause)
  }
  try {
    const value = convert()
    return value instanceof Promise ? (value.catch(refuse) as Value) : value
  } catch (error) {
    return refuse(error)
  }
}

export function notSendable({ name }: CompiledTool, cause: unknown): TypeError {
  return new TypeError(`Tool "${name}" returned a result that cannot be sent: ${textOf(cause)}`, { cause })
}
