/** The tools of mcp-use's documentation, by `server.tool` and by `registerTool`. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { error, MCPServer, object, text } from '../../src/mcp-use.ts'
import { secretOf } from '../_secrets.ts'
import { META, modern, type SendOptions } from '../unit/_client.ts'
import { call } from './_call.ts'

const create = (): MCPServer =>
  new MCPServer({ name: 'inventory-server', version: '1.0.0', secret: secretOf('s'), log: false })

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

it('server.tool with a question: "Check client support" and "Handle every user decision"', async () => {
  const server = create()
  server.tool(
    {
      name: 'collect_contact',
      description: 'Collect non-sensitive contact details before continuing.',
    },
    async (_params, ctx) => {
      if (!ctx.client.capabilities().elicitation?.form) {
        return error('This client does not support form elicitation.')
      }

      const result = await ctx.elicit(
        'Who should receive the follow-up?',
        z.object({
          name: z.string().describe('Recipient name'),
          includePrivateFields: z.boolean().default(false),
        }),
      )

      switch (result.action) {
        case 'accept':
          return text(`Follow-up will go to ${result.data.name}. ${result.data.includePrivateFields}`)
        case 'decline':
          return text('The user declined.')
        case 'cancel':
          return text('No contact details were provided.')
      }
    },
  )
  const accept = { action: 'accept', content: { name: 'Ada' } }
  expect((await call(server, 'collect_contact', {}, [accept])).text).toBe('Follow-up will go to Ada. false')
  expect((await call(server, 'collect_contact', {}, [{ action: 'cancel' }])).text).toContain('No contact')
  const { result } = await modern(server, 'tools/call', { name: 'collect_contact', arguments: {} })
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('not support') }] })
})

it('server.tool with `schema`, progress, a log and the client’s own words', async () => {
  const server = create()
  server.tool(
    { name: 'process_records', description: 'Process records.', schema: z.object({ batchId: z.string() }) },
    async ({ batchId }, ctx) => {
      await ctx.reportProgress?.(0, 100, 'Starting')
      await ctx.sendLog('info', { batchId })
      await ctx.reportProgress?.(100, 100, 'Complete')
      const { name } = ctx.client.info()
      return object({
        batchId,
        name,
        views: ctx.client.supportsViews(),
        sampling: ctx.client.can('sampling'),
      })
    },
  )
  const params = { name: 'process_records', arguments: { batchId: '7' }, _meta: { progressToken: 'p' } }
  const capabilities = {
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  }
  const options: SendOptions = { meta: { [META.clientCapabilities]: capabilities } }
  const { result, notifications } = await modern(server, 'tools/call', params, options)
  expect(result?.structuredContent).toEqual({ batchId: '7', name: 'unit', views: true, sampling: false })
  expect(notifications.at(-1)?.params).toMatchObject({ progress: 100, total: 100, message: 'Complete' })
})

it('ctx.elicit(key, message, schema) of 2.x: the compiler refuses it, and an error says what to write', async () => {
  const server = create()
  server.tool({ name: 'ask' }, async (_params, ctx) => {
    // @ts-expect-error there is no key
    const result = await ctx.elicit('contact', 'Who?', z.object({ name: z.string() }))
    return text(result.action)
  })
  expect((await call(server, 'ask')).text).toBe('ctx.elicit takes no key: write ctx.elicit(message, schema).')
})

it('what server.tool cannot mean, and server.listen → TypeError', () => {
  const server = create()
  const v1 = { name: 'weather', cb: async () => text('sunny') }
  expect(() => server.tool(v1 as never, undefined as never)).toThrow(
    'has "cb": pass the function as the second',
  )
  expect(() => server.tool({ name: 'a' }, undefined as never)).toThrow(
    'takes a name, a configuration and a function',
  )
  expect(() => server.listen(3000)).toThrow('export it as default')
})

describe('ctx.elicit with a timeout', () => {
  const asking = (timeout: unknown): MCPServer => {
    const server = create()
    server.registerTool('ask', {}, async (ctx) => {
      const schema = z.object({ name: z.string() })
      return (await ctx.elicit('Enter info', schema, { timeout: timeout as number })).action
    })
    return server
  }

  it('is the same where the call ends with its question', async () => {
    const answer = { action: 'accept', content: { name: 'Ada' } }
    expect((await call(asking(60_000), 'ask', {}, [answer])).text).toBe('accept')
    expect((await call(asking(Infinity), 'ask', {}, [answer])).text).toBe('accept')
  })

  it.each([0, -1, '60', Number.NaN])('%s → an error that names it', async (timeout) => {
    const server = asking(timeout)
    server.registerTool('other', {}, () => '')
    expect((await call(server, 'ask', {})).text).toContain('"timeout" of ctx.elicit must be a number')
  })
})
