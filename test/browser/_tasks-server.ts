/** Tasks of each status, with the endpoint that shows them. */
import * as z from 'zod'
import { createTool, MCPServer, ProtocolError } from '../../src/index.ts'
import { createMemoryTasks, createTaskEndpoint } from '../../src/tasks.ts'
import { createTaskAdmin } from '../../src/tasks-admin.ts'

const task = { mode: 'required', fallback: 'handle' } as const
let failures = 0

const report = createTool({
  id: 'report',
  description: 'Loads rows, and waits for an approval',
  inputSchema: z.object({ year: z.number().int().default(2026) }),
  task,
  execute: async ({ year }, ctx) => {
    const rows = await ctx.step('load rows', () => [`January ${year}`, '<b>July</b>'])
    await ctx.waitFor('approved', { timeoutMs: 3_600_000 })
    return rows
  },
})

const broken = createTool({
  id: 'broken',
  description: 'Fails at its second step the first time',
  task,
  execute: async (_input, ctx) => {
    const paid = await ctx.step('pay', ({ idempotencyKey }) => idempotencyKey)
    if (failures++ === 0) throw new ProtocolError(-32603, 'the printer is on fire')
    return `printed after ${paid}`
  },
})

const asks = createTool({
  id: 'asks',
  description: 'Asks its user after a step that failed',
  task,
  execute: async (_input, ctx) => {
    await ctx
      .step('look up', () => {
        throw new RangeError('<i>nothing</i> is found')
      })
      .catch(() => {})
    return ctx.elicit('Which <u>row</u>?', z.object({ row: z.number() }))
  },
})

const server = new MCPServer({
  id: 'reports',
  name: 'Reports',
  version: '1.0.0',
  tools: { report, broken, asks },
  tasks: createMemoryTasks(),
})

const endpoint = createTaskEndpoint({
  server,
  secret: 'of-no-value-outside-these-tests-2',
  admin: createTaskAdmin({ secret: process.env.MAYFLY_TASKS_SECRET! }),
})

export default endpoint.mount()
