/** A server whose one tool is the client of `_client.ts`, which then runs where this server does. */
import { createTool, jsonSchema, MCPServer } from '../../../src/index.ts'
import { act, type Order } from './_client.ts'

export default new MCPServer({
  id: 'agent',
  name: 'Agent',
  version: '1.0.0',
  log: false,
  tools: {
    act: createTool({
      id: 'act',
      inputSchema: jsonSchema<Order>({ type: 'object' }),
      execute: (order) => act(order),
    }),
  },
})
