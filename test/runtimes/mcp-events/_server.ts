/** A server whose tools emit events, and deliver what is due. */
import { createTool, jsonSchema, MCPServer, type MCPServerConfig } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
import { createEvent, createMemoryEvents, type EventsOptions, events } from 'mayfly-mcp/mcp-events'
import { TOKEN } from './_token.ts'

const note = createEvent({
  id: 'note.created',
  description: 'A new note',
  inputSchema: jsonSchema<{ tag?: string }>({ type: 'object', properties: { tag: { type: 'string' } } }),
  index: ['tag'],
})

export function createNotes(
  options: Partial<EventsOptions> = {},
  config: Pick<MCPServerConfig, 'http'> = {},
): MCPServer {
  const server: MCPServer = new MCPServer({
    id: 'notes',
    name: 'Notes',
    version: '1.0.0',
    log: false,
    auth: staticTokens([{ token: TOKEN }]),
    events: events({ types: { note }, store: createMemoryEvents(), allowLoopback: true, ...options }),
    tools: {
      add_note: createTool({
        id: 'add_note',
        inputSchema: jsonSchema<{ text: string; tag?: string }>({ type: 'object' }),
        execute: async (added, { waitUntil }) => {
          const { eventId } = await server.events.emit('note.created', added, { waitUntil })
          return eventId
        },
      }),
      deliver: createTool({ id: 'deliver', execute: () => server.events.run() }),
    },
    ...config,
  })
  return server
}
