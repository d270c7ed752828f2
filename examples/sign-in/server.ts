/**
 * People sign in with Google. Until GOOGLE_ID and GOOGLE_SECRET are set, `mayfly dev` asks "Who are you?" instead, and no account is needed:
 *
 *   npx mayfly dev examples/sign-in/server.ts --open
 */
import { createTool, MCPServer } from 'mayfly-mcp'
import { createMemoryGrants, signIn } from 'mayfly-mcp/sign-in'
import { google } from 'mayfly-mcp/sign-in/google'
import * as z from 'zod'

/** In memory, so that the example needs nothing. Yours are in a database, under the same `sub`. */
const notes = new Map<string, string[]>()

const whoami = createTool({
  id: 'whoami',
  description: 'Who is signed in',
  execute: (_input, ctx) => {
    const { sub, name, email } = ctx.auth?.extra ?? {}
    return { sub, name, email }
  },
})

const read_notes = createTool({
  id: 'read_notes',
  description: 'Your notes',
  scopes: ['notes:read'],
  execute: (_input, ctx) => ({ notes: notes.get(String(ctx.auth?.subject)) ?? [] }),
})

const add_note = createTool({
  id: 'add_note',
  description: 'Adds a note',
  inputSchema: z.object({ text: z.string().max(1000) }),
  scopes: ['notes:write'],
  execute: ({ text }, ctx) => {
    const person = String(ctx.auth?.subject)
    const own = [...(notes.get(person) ?? []), text].slice(-100)
    notes.set(person, own)
    return { count: own.length }
  },
})

export default new MCPServer({
  id: 'notes',
  name: 'Notes',
  version: '1.0.0',
  tools: { whoami, read_notes, add_note },
  auth: signIn({
    upstream: google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET }),
    store: createMemoryGrants(),
    scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Add notes' },
  }),
})
