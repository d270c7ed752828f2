/** The server of these tests: one tool, whose way its arguments say. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { createTasks, type TaskRunner, type TaskStore } from 'mayfly-mcp/tasks'
import * as z from 'zod'

export const LEASE_MS = 2000

export function createJobs(store: TaskStore, runner: TaskRunner, did: (what: string) => unknown): MCPServer {
  const job = createTool({
    id: 'job',
    inputSchema: z.object({
      name: z.string(),
      sleepMs: z.number().default(0),
      slowMs: z.number().default(0),
      waits: z.boolean().default(false),
    }),
    task: 'required',
    execute: async ({ name, sleepMs, slowMs, waits }, ctx) => {
      const note = async (what: string): Promise<void> => void (await did(`${name} ${what}`))
      await ctx.step('one', () => note('one'))
      if (sleepMs > 0) await ctx.sleep('a while', sleepMs)
      const slow = async (): Promise<void> => {
        await note('slow')
        await new Promise((resolve) => setTimeout(resolve, slowMs))
      }
      if (slowMs > 0) await ctx.step('slow', slow)
      if (waits) await ctx.waitFor('go', { timeoutMs: 3_600_000 })
      await ctx.step('two', () => note('two'))
      return `done ${name}`
    },
  })
  return new MCPServer({
    id: 'jobs',
    name: 'Jobs',
    version: '1.0.0',
    log: false,
    onError: () => {},
    tools: { job },
    tasks: createTasks({ store, runner, leaseMs: LEASE_MS }),
  })
}
