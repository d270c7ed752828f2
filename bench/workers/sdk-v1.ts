/** A worker of one tool on the official SDK v1. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { echoSchema } from './echo-schema.ts'

export default {
  async fetch(request: Request): Promise<Response> {
    const server = new McpServer({ name: 'bench', version: '1.0.0' })
    server.registerTool(
      'echo',
      { description: 'Echoes a text to a channel', inputSchema: echoSchema },
      async ({ text }) => ({ content: [{ type: 'text', text }] }),
    )
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    return transport.handleRequest(request)
  },
}
