/** FastMCP in its stateless mode, which listens by itself. */
import { FastMCP } from 'fastmcp'
import { SERVER_INFO } from '../peers/peer.ts'
import type { EchoTool } from '../tools.ts'

export async function listen(tools: readonly EchoTool[], port: number): Promise<void> {
  const server = new FastMCP(SERVER_INFO)
  for (const { name, description, inputSchema } of tools) {
    server.addTool({ name, description, parameters: inputSchema, execute: async ({ text }) => text })
  }
  await server.start({
    transportType: 'httpStream',
    httpStream: { port, host: '127.0.0.1', stateless: true },
  })
}
