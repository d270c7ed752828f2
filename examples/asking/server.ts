/**
 * Asking the user without a session: a confirmation, a wizard, a visit to a URL. Each tool is a straight line; on a server
 * that keeps nothing, each `await ctx.elicit` ends the request and the tool runs again with the answer.
 *
 * Try it: `MAYFLY_SECRET=$(openssl rand -base64 32) npx mayfly dev examples/asking/server.ts --target node`
 */
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const files = new Map([['notes.txt', 'Buy milk']])

/** A confirmation: one question, nothing to remember, so it needs no secret. */
const deleteFile = createTool({
  id: 'delete-file',
  description: 'Deletes a file, after asking',
  inputSchema: z.object({ path: z.string() }),
  mcp: { annotations: { destructiveHint: true } },
  execute: async ({ path }, ctx) => {
    const answer = await ctx.elicit(`Delete ${path}?`, z.object({ confirm: z.boolean().default(false) }))
    if (answer.action !== 'accept' || !answer.content.confirm) return `${path} was kept`
    return files.delete(path) ? `${path} was deleted` : `There is no ${path}`
  },
})

/** A wizard: three questions and two steps. A step runs once, in whichever round comes to it first. */
const bookTable = createTool({
  id: 'book-table',
  description: 'Books a table, asking for what is missing',
  execute: async (_input, ctx) => {
    const free = await ctx.step('find free tables', () => ({ evening: ['18:00', '20:30'] }))
    const party = await ctx.elicit('For how many?', z.object({ guests: z.number().int().min(1).max(12) }))
    if (party.action !== 'accept') return 'Nothing was booked'
    const time = await ctx.elicit('When?', z.object({ time: z.enum(free.evening as [string, ...string[]]) }))
    if (time.action !== 'accept') return 'Nothing was booked'
    const contact = await ctx.elicit('Where do we send the confirmation?', z.object({ email: z.email() }))
    if (contact.action !== 'accept') return 'Nothing was booked'
    const booking = await ctx.step('book', () => ({ number: crypto.randomUUID().slice(0, 8) }))
    return { ...booking, ...party.content, ...time.content, ...contact.content }
  },
})

/** A sign-in: what must not pass through the client goes to a URL. */
const connectAccount = createTool({
  id: 'connect-account',
  description: 'Connects an account at the provider',
  execute: async (_input, ctx) => {
    const url = ctx.can('elicitation.url')
    if (!url.available) return `Open https://example.com/connect in a browser. (${url.reason})`
    const answer = await ctx.elicit('Sign in to connect your account', 'https://example.com/connect')
    return answer.action === 'accept' ? 'Connected' : 'Not connected'
  },
})

export default new MCPServer({
  id: 'asking',
  name: 'Asking',
  version: '1.0.0',
  description: 'Asks its user, keeps nothing',
  tools: { 'delete-file': deleteFile, 'book-table': bookTable, 'connect-account': connectAccount },
})
