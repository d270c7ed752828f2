/** Mayfly, as it is published: `mayfly-mcp` is this package's own built entry point. */
import { createTool, MCPServer } from 'mayfly-mcp'
import type { Auth } from 'mayfly-mcp/auth'
import type { Dialect } from '../requests.ts'
import type { EchoTool } from '../tools.ts'
import { type FetchHandler, type Peer, SERVER_INFO } from './peer.ts'

export function mayfly(dialect: Dialect): Peer {
  return { name: 'mayfly', dialect, serve }
}

function serve(tools: readonly EchoTool[]): FetchHandler {
  const server = createServer(tools, { log: false })
  return (request) => server.fetch(request)
}

/** The server itself, for the adapters. */
export function createServer(
  tools: readonly EchoTool[],
  options: { readonly log?: 'all' | false; readonly auth?: Auth },
): MCPServer {
  return new MCPServer({
    id: 'bench',
    ...SERVER_INFO,
    tools: Object.fromEntries(tools.map((tool) => [tool.name, echoTool(tool)])),
    // No paging: every peer answers the whole list at once.
    pageSize: 1000,
    ...options,
  })
}

export function echoTool({ name, description, inputSchema }: EchoTool) {
  return createTool({ id: name, description, inputSchema, execute: async ({ text }) => text })
}
