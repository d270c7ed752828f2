/** mcp-lite with a resource, a prompt, and a tool that reports progress. It asks within a session alone. */
import { McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { addTools } from '../peers/mcp-lite.ts'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'
import { PROMPT, RESOURCE } from './features.ts'
import { promptArguments } from './schemas.ts'

export function serveFeatures(tools: readonly EchoTool[]): FetchHandler {
  const server = new McpServer({
    ...SERVER_INFO,
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  addTools(server, tools)
  server.tool('progress', {
    handler: async (_input, ctx) => {
      await ctx.progress?.({ progress: 1, total: 2 })
      return { content: [{ type: 'text', text: 'done' }] }
    },
  })
  server.resource(RESOURCE.uri, { name: RESOURCE.name, mimeType: RESOURCE.mimeType }, async (uri) => ({
    contents: [{ type: 'text', uri: uri.href, mimeType: RESOURCE.mimeType, text: RESOURCE.text }],
  }))
  server.prompt(PROMPT.name, {
    description: PROMPT.description,
    arguments: promptArguments,
    handler: async ({ name }: { name: string }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: PROMPT.textFor(name) } }],
    }),
  })
  return new StreamableHttpTransport().bind(server)
}
