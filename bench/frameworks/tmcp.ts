/** tmcp behind its own HTTP transport: one server, built once. It answers both eras, in streams of one event. */
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { McpServer } from 'tmcp'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

export function serve(tools: readonly EchoTool[]): FetchHandler {
  const server = new McpServer(
    { ...SERVER_INFO, description: 'bench' },
    { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
  )
  for (const { name, description, inputSchema } of tools) {
    server.tool({ name, description, schema: inputSchema }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
  const transport = new HttpTransport(server, { path: '/mcp' })
  return async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })
}
