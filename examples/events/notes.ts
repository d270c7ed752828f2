/** The server of these examples: notes, and the event that one was added. Only the store differs. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { staticTokens } from 'mayfly-mcp/auth'
import { createEvent, type EventsOptions, events } from 'mayfly-mcp/mcp-events'
import * as z from 'zod'

const note = z.object({ text: z.string(), tag: z.string().optional() })

const created = createEvent({
  id: 'note.created',
  description: 'A note was added; with a tag, only notes that have it',
  inputSchema: z.object({ tag: z.string().optional() }),
  payloadSchema: note,
  index: ['tag'],
})

/** @param token What clients send as `Authorization: Bearer …`. */
export function createNotes(store: EventsOptions['store'], token = 'events-example-token'): MCPServer {
  const server: MCPServer = new MCPServer({
    id: 'notes',
    name: 'Notes',
    version: '1.0.0',
    auth: staticTokens([{ token, clientId: 'example' }]),
    // For a receiver on this machine. Where you deploy, leave allowLoopback out.
    events: events({ types: { created }, store, allowLoopback: true }),
    tools: {
      add_note: createTool({
        id: 'add_note',
        description: 'Adds a note, and tells those who have subscribed to its tag, or to all notes',
        inputSchema: note,
        execute: async (added, ctx) => {
          await server.events.emit('note.created', added, { waitUntil: ctx.waitUntil })
          return 'Added.'
        },
      }),
    },
  })
  return server
}
