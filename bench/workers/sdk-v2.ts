/** A worker of one tool on the official SDK v2. */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { echoSchema } from './echo-schema.ts'

export default createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  server.registerTool(
    'echo',
    { description: 'Echoes a text to a channel', inputSchema: echoSchema },
    async ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  return server
})
