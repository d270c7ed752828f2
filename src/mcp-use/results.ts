/** Results of tools as mcp-use writes them. */
import type { CallToolResult } from '../definition/content.ts'

/** A text. */
export function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: content }] }
}

/** An object, which is also `structuredContent`. */
export function object(value: Record<string, unknown>): CallToolResult {
  return { ...text(JSON.stringify(value)), structuredContent: value }
}

/** An error that the model reads. */
export function error(message: string): CallToolResult {
  return { ...text(message), isError: true }
}
