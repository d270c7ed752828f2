/** What attackers are let loose on: every guard is on, and tools say again what they are told. */
import { createResource, createTool, jsonSchema, MCPServer } from 'mayfly-mcp'
import { jwt } from 'mayfly-mcp/auth'
import * as z from 'zod'
import { AUDIENCE, ISSUER, PUBLIC_KEY } from './_keys.ts'

const echo = createTool({
  id: 'echo',
  description: 'Says the same, in its result, its log and its progress',
  inputSchema: jsonSchema<{ text: string }>({ type: 'object', required: ['text'] }),
  execute: ({ text }, ctx) => {
    ctx.log('info', text, text)
    ctx.reportProgress({ progress: 1, message: text })
    return text
  },
})

const transfer = createTool({
  id: 'transfer',
  description: 'Asks twice',
  inputSchema: z.object({ to: z.string() }),
  execute: async ({ to }, ctx) => {
    const amount = await ctx.elicit('How much?', z.object({ amount: z.number() }))
    const sure = await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
    return `${amount.action} ${sure.action} ${to}`
  },
})

const fail = createTool({
  id: 'fail',
  description: 'Fails with what nobody should read in the protocol',
  execute: () => {
    throw new Error('The query failed.', { cause: 'postgres://user:hunter2@10.0.0.7/db' })
  },
})

const rule = createTool({ id: 'rule', description: 'For admins', scopes: ['admin'], execute: () => 'ruled' })

export default new MCPServer({
  id: 'hostile',
  name: 'Hostile',
  version: '1.0.0',
  secret: 'of-no-value-outside-the-hostile-tests',
  auth: jwt({
    issuer: ISSUER,
    jwksUri: `${ISSUER}/jwks`,
    audience: AUDIENCE,
    fetch: async () => Response.json({ keys: [PUBLIC_KEY] }),
  }),
  tools: { echo, transfer, fail, rule },
  resources: [
    createResource({ uriTemplate: 'files://{+path}', read: ({ variables }) => `file ${variables.path}` }),
  ],
  http: {
    bodyTimeoutMs: 1500,
    maxBodyBytes: 65_536,
    maxJsonMembers: 2000,
    maxStringCharacters: 50_000,
    streamAfterMs: 500,
  },
  log: false,
})
