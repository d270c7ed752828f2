/** Vercel's mcp-handler, as its README has it: a callback that registers the tools on the SDK's server of each request. */
import { createMcpHandler } from 'mcp-handler'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

export function serve(tools: readonly EchoTool[]): FetchHandler {
  return createMcpHandler(
    (server) => {
      for (const { name, description, inputSchema } of tools) {
        server.registerTool(name, { description, inputSchema }, async ({ text }) => ({
          content: [{ type: 'text', text }],
        }))
      }
    },
    { serverInfo: SERVER_INFO },
  )
}
