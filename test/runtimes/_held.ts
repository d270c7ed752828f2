/** A tool that runs until a server of the test answers it. */
import { createTool, MCPServer } from 'mayfly-mcp'

export default new MCPServer({
  id: 'held',
  name: 'Held',
  version: '1.0.0',
  tools: {
    held: createTool({
      id: 'held',
      execute: async (_input, ctx) => (await fetch((ctx.env as { GATE: string }).GATE)).text(),
    }),
  },
})
