/** mcp-use, as its README has it: `fetch` of a server with its tools. It builds a server of the SDK v2 for each request. */
import { MCPServer } from 'mcp-use'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

/** By default it logs each request. */
export function serve(tools: readonly EchoTool[], logging: { enabled?: boolean } = {}): FetchHandler {
  const server = new MCPServer({ ...SERVER_INFO, logging })
  for (const { name, description, inputSchema } of tools) {
    server.tool({ name, description, inputSchema }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
  return (request) => server.fetch(request)
}
