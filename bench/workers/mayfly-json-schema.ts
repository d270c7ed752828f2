/** A worker of one tool on Mayfly, without zod. */
import { createTool, jsonSchema, MCPServer } from 'mayfly-mcp'

const echo = createTool({
  id: 'echo',
  description: 'Echoes a text to a channel',
  inputSchema: jsonSchema<{ text: string }>({
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What to say' },
      channel: { type: 'string', description: 'Where to say it' },
      count: { type: 'number', description: 'How often to say it' },
      tone: { type: 'string', enum: ['friendly', 'formal'], description: 'How to say it' },
    },
    required: ['text', 'channel', 'count'],
  }),
  execute: async ({ text }) => text,
})

export default new MCPServer({ id: 'bench', name: 'bench', version: '1.0.0', tools: { echo }, log: false })
