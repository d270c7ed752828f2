/** FastMCP for edge platforms, which is another class and stateless. */
import { EdgeFastMCP } from 'fastmcp/edge'
import { type FetchHandler, SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

export function serve(tools: readonly EchoTool[]): FetchHandler {
  const server = new EdgeFastMCP(SERVER_INFO)
  for (const { name, description, inputSchema } of tools) {
    server.addTool({ name, description, parameters: inputSchema, execute: async ({ text }) => text })
  }
  return (request) => server.fetch(request)
}
