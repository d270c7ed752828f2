/** The official SDK v1 with a resource, a prompt, and a tool that reports progress. It asks within a session alone. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import { addTools } from '../peers/sdk-v1.ts'
import type { EchoTool } from '../tools.ts'
import { PROMPT, RESOURCE } from './features.ts'
import { promptArguments } from './schemas.ts'

/** Answers in streams, which is the transport's default: progress is lost otherwise. */
export function serveFeatures(tools: readonly EchoTool[]): FetchHandler {
  return async (request) => {
    const server = new McpServer(SERVER_INFO)
    addTools(server, tools)
    addFeatures(server)
    const transport = new WebStandardStreamableHTTPServerTransport()
    await server.connect(transport)
    return transport.handleRequest(request)
  }
}

function addFeatures(server: McpServer): void {
  server.registerTool('progress', {}, async (extra) => {
    const progressToken = extra._meta?.progressToken
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, total: 2 }
      await extra.sendNotification({ method: 'notifications/progress', params })
    }
    return { content: [{ type: 'text', text: 'done' }] }
  })
  const { uri, name, mimeType, text } = RESOURCE
  server.registerResource(name, uri, { mimeType }, async () => ({ contents: [{ uri, mimeType, text }] }))
  server.registerPrompt(
    PROMPT.name,
    { description: PROMPT.description, argsSchema: promptArguments.shape },
    async (args) => ({
      messages: [{ role: 'user', content: { type: 'text', text: PROMPT.textFor(args.name) } }],
    }),
  )
}
