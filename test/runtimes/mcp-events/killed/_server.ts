/** A server whose tools emit and deliver, for processes that are killed. */

import { staticTokens } from '../../../../src/auth.ts'
import { createTool, jsonSchema, MCPServer } from '../../../../src/index.ts'
import { createEvent, type EventsOptions, events } from '../../../../src/mcp-events.ts'
import { TOKEN } from '../_token.ts'

const note = createEvent({ id: 'note.created', description: 'A new note' })

export function createKilled(options: Pick<EventsOptions, 'store' | 'runner'>): MCPServer {
  const server: MCPServer = new MCPServer({
    id: 'killed',
    name: 'Killed',
    version: '1.0.0',
    log: false,
    auth: staticTokens([{ token: TOKEN }]),
    events: events({ types: { note }, allowLoopback: true, ...options }),
    tools: {
      emit: createTool({
        id: 'emit',
        inputSchema: jsonSchema<{ n: number; eventId?: string }>({ type: 'object' }),
        execute: async ({ n, ...options }, { waitUntil }) => {
          const { eventId } = await server.events.emit('note.created', { n }, { ...options, waitUntil })
          return eventId
        },
      }),
      deliver: createTool({ id: 'deliver', execute: () => server.events.run() }),
    },
  })
  return server
}
