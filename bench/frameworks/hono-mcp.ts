/** @hono/mcp, as its README has it: one server of the SDK v1 and one transport without sessions, mounted in Hono. */
import { StreamableHTTPTransport } from '@hono/mcp'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Hono } from 'hono'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

export function serve(tools: readonly EchoTool[]): FetchHandler {
  const app = new Hono()
  const server = new McpServer(SERVER_INFO)
  for (const { name, description, inputSchema } of tools) {
    server.registerTool(name, { description, inputSchema }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
  const transport = new StreamableHTTPTransport()
  app.all('/mcp', async (context) => {
    if (!server.isConnected()) await server.connect(transport)
    return (await transport.handleRequest(context)) ?? context.body(null, 202)
  })
  return (request) => app.fetch(request)
}
