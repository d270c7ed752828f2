/** The official SDK v2, as its guide has it: `createMcpHandler` with a factory that registers the tools per request. */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { MODERN } from '../requests.ts'
import type { EchoTool } from '../tools.ts'
import { type FetchHandler, type Peer, SERVER_INFO } from './peer.ts'

export const sdkV2: Peer = { name: 'SDK v2', dialect: MODERN, serve }

function serve(tools: readonly EchoTool[]): FetchHandler {
  const handler = createMcpHandler(() => {
    const server = new McpServer(SERVER_INFO)
    addTools(server, tools)
    return server
  })
  return (request) => handler.fetch(request)
}

export function addTools(server: McpServer, tools: readonly EchoTool[]): void {
  for (const { name, description, inputSchema } of tools) {
    server.registerTool(name, { description, inputSchema }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
}
