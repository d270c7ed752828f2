/** Results of tools as mcp-use writes them. */
import type { CallToolResult } from '../definition/content.ts'

/** A text. */
export function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: requireText('text', content) }] }
}

/** An object, which is also `structuredContent`. */
export function object(value: Record<string, unknown>): CallToolResult {
  if (typeof value !== 'object' || value === null) throw new TypeError('object needs an object.')
  return { ...text(JSON.stringify(value)), structuredContent: value }
}

/** An error that the model reads. */
export function error(message: string): CallToolResult {
  return { ...text(requireText('error', message)), isError: true }
}

function requireText(where: string, given: string): string {
  if (typeof given !== 'string') throw new TypeError(`${where} needs a string.`)
  return given
}
