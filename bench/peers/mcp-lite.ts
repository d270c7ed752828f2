/**
 * mcp-lite, as its README has it: one server, built once, behind its own fetch handler. It knows no revision after
 * 2025-06-18, and it streams to every client that accepts a stream, which each conforming client does. So there are
 * two: asked for JSON alone, which is the fastest it can be (budgets are held against this one), and asked as real
 * clients ask.
 */
import { McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { LEGACY } from '../requests.ts'
import type { EchoTool } from '../tools.ts'
import { type FetchHandler, type Peer, SERVER_INFO } from './peer.ts'

const DIALECT = { ...LEGACY, protocolVersion: '2025-06-18' }

export const mcpLite: Peer = {
  name: 'mcp-lite (JSON)',
  dialect: { ...DIALECT, accept: 'application/json' },
  serve,
}
export const mcpLiteStream: Peer = { name: 'mcp-lite (SSE)', dialect: DIALECT, serve }

function serve(tools: readonly EchoTool[]): FetchHandler {
  const server = new McpServer({
    ...SERVER_INFO,
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  addTools(server, tools)
  return new StreamableHttpTransport().bind(server)
}

export function addTools(server: McpServer, tools: readonly EchoTool[]): void {
  for (const { name, description, inputSchema } of tools) {
    server.tool(name, {
      description,
      inputSchema,
      handler: async ({ text }) => ({ content: [{ type: 'text', text }] }),
    })
  }
}
