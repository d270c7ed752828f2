/** The official SDK v1, stateless as its guide has it: a fresh server and transport per request, answered in JSON. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { LEGACY } from '../requests.ts'
import type { EchoTool } from '../tools.ts'
import { type FetchHandler, type Peer, SERVER_INFO } from './peer.ts'

export const sdkV1: Peer = { name: 'SDK v1', dialect: LEGACY, serve }

function serve(tools: readonly EchoTool[]): FetchHandler {
  return async (request) => {
    const server = new McpServer(SERVER_INFO)
    addTools(server, tools)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    return transport.handleRequest(request)
  }
}

export function addTools(server: McpServer, tools: readonly EchoTool[]): void {
  for (const { name, description, inputSchema } of tools) {
    server.registerTool(name, { description, inputSchema }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
}
