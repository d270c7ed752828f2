/** A worker of one tool on Mayfly, with zod. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { echoSchema } from './echo-schema.ts'

const echo = createTool({
  id: 'echo',
  description: 'Echoes a text to a channel',
  inputSchema: echoSchema,
  execute: async ({ text }) => text,
})

export default new MCPServer({ id: 'bench', name: 'bench', version: '1.0.0', tools: { echo }, log: false })
