/** Tools as plain data, which can be cached and made callable again without a request to their servers. */
import type { Tool } from '../definition/tool.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { keepWellFormed } from './lists.ts'
import { type ClientTool, listTools, toClientTool } from './tools.ts'

/** A tool as its server listed it, with facts about that server. Plain JSON. */
export interface ToolDefinition extends Tool {
  server: { name: string; version?: string; instructions?: string }
}

/** By server, then by the tool's own name. */
export type ToolCatalog = { [server: string]: { [tool: string]: ToolDefinition } }

export async function listDefinitions(
  connection: Connection,
  settings?: RequestSettings,
): Promise<{ [tool: string]: ToolDefinition }> {
  const tools = await listTools(connection, settings)
  const { server: name, peer } = connection
  const server = {
    name,
    ...(peer?.version !== undefined && { version: peer.version }),
    ...(peer?.instructions !== undefined && { instructions: peer.instructions }),
  }
  return Object.fromEntries(tools.map(({ definition }) => [definition.name, { ...definition, server }]))
}

/** @throws TypeError for a value that is not a tool definition. */
export function toolOf(
  connection: Connection,
  { server: _server, ...definition }: ToolDefinition,
): ClientTool {
  const { result } = keepWellFormed('tools/list', { tools: [definition] }, 'modern')
  const [tool] = result.tools
  if (tool !== undefined) return toClientTool(connection, tool)
  throw new TypeError(
    `definition is not a tool of MCP server "${connection.server}": pass one that listToolDefinitions() returned.`,
  )
}
