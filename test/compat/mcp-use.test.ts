/** The tools of mcp-use's documentation, registered by `registerTool`. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { MCPServer } from '../../src/mcp-use.ts'
import { call } from './_call.ts'

const create = (): MCPServer =>
  new MCPServer({ name: 'inventory-server', version: '1.0.0', secret: 's'.repeat(32), log: false })

it('a tool with a default and limits', async () => {
  const server = create()
  server.registerTool(
    'search_orders',
    {
      description: 'Search customer orders by status and date range.',
      inputSchema: z.object({
        status: z.enum(['open', 'fulfilled', 'cancelled']).optional(),
        fromDate: z.string().date().describe('Start date in YYYY-MM-DD format'),
        limit: z.number().int().min(1).max(50).default(10),
      }),
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    },
    async ({ status, fromDate, limit }) => {
      const orders = { status, fromDate, limit }
      return { content: [{ type: 'text', text: JSON.stringify({ orders }) }], structuredContent: { orders } }
    },
  )
  expect((await call(server, 'search_orders', { fromDate: '2026-11-22' })).structuredContent).toEqual({
    orders: { fromDate: '2026-11-22', limit: 10 },
  })
})

it('ctx.elicit with a zod schema: `data` is the content', async () => {
  const server = create()
  server.registerTool(
    'register-user',
    { description: 'Register a new user', inputSchema: z.object({}) },
    async (_params, ctx) => {
      const result = await ctx.elicit(
        'Please complete your registration',
        z.object({
          name: z.string().min(2).describe('Your full name'),
          email: z.string().email().describe('Your email address'),
          age: z.number().min(18).max(120).describe('Your age'),
          newsletter: z.boolean().default(false).describe('Subscribe to newsletter'),
        }),
      )
      if (result.action === 'accept') {
        const user = result.data
        return `Welcome, ${user.name}! ${user.newsletter}`
      }
      return 'Registration cancelled'
    },
  )
  const content = { name: 'Ada', email: 'ada@example.com', age: 36 }
  expect((await call(server, 'register-user', {}, [{ action: 'accept', content }])).text).toBe(
    'Welcome, Ada! false',
  )
  expect((await call(server, 'register-user', {}, [{ action: 'cancel' }])).text).toBe(
    'Registration cancelled',
  )
})

it('ctx.elicit with a URL', async () => {
  const server = create()
  server.registerTool('connect', { description: 'Authorize access' }, async (ctx) => {
    const result = await ctx.elicit('Authorize (2 minute limit)', 'https://example.com/oauth')
    return result.action
  })
  expect((await call(server, 'connect', {}, [{ action: 'accept' }])).text).toBe('accept')
})

it('ctx.stateless: nothing is kept between the requests of a client', async () => {
  const server = create()
  server.registerTool('stateless', {}, (ctx) => String(ctx.stateless))
  expect((await call(server, 'stateless', {})).text).toBe('true')
})
