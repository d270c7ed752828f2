/** Cloudflare's `agents`, as its README has it: `createMcpHandler` with a factory of a server of the SDK v2. */
import { McpServer } from '@modelcontextprotocol/server'
import { createMcpHandler } from 'agents/mcp/server'
import { SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

type Handler = ReturnType<typeof createMcpHandler>

export function serve(tools: readonly EchoTool[]): (...args: Parameters<Handler>) => Promise<Response> {
  const createServer = (): McpServer => {
    const server = new McpServer(SERVER_INFO)
    for (const { name, description, inputSchema } of tools) {
      server.registerTool(name, { description, inputSchema }, async ({ text }) => ({
        content: [{ type: 'text', text }],
      }))
    }
    return server
  }
  // The README makes the handler in the request, too.
  return async (request, env, ctx) => createMcpHandler(createServer)(request, env, ctx)
}
