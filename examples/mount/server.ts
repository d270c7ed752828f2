/** A server like any other: it does not know where it is mounted. */
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const greet = createTool({
  id: 'greet',
  description: 'Greets somebody by name.',
  inputSchema: z.object({ name: z.string() }),
  execute: ({ name }) => `Hello, ${name}!`,
})

export const server = new MCPServer({
  id: 'mounted',
  name: 'Mounted',
  version: '1.0.0',
  tools: { greet },
})
