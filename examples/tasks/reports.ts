/** A tool that takes long: it loads, waits, asks, and publishes. The files beside this one say where its tasks are kept. */
import { createTool, MCPServer } from 'mayfly-mcp'
import type { TaskSupport } from 'mayfly-mcp/tasks'
import * as z from 'zod'

const report = createTool({
  id: 'report',
  description: 'Writes the report of a year and publishes it, if you agree',
  inputSchema: z.object({ year: z.number().int() }),
  task: { mode: 'required', fallback: 'handle', pollIntervalMs: 500 },
  execute: async ({ year }, ctx) => {
    const rows = await ctx.step('load', () => [year, year + 1, year + 2])
    ctx.reportProgress({ progress: 1, total: 3, message: 'loaded' })
    // Costs nothing while it waits.
    await ctx.sleep('let the warehouse settle', 1000)
    const answer = await ctx.elicit('Publish it?', z.object({ publish: z.boolean() }))
    if (answer.action !== 'accept' || !answer.content.publish) return 'Not published.'
    return ctx.step(
      'publish',
      ({ idempotencyKey }) => `Published ${rows.length} rows as ${idempotencyKey.length} characters.`,
    )
  },
})

export function createReports(tasks: TaskSupport): MCPServer {
  return new MCPServer({ id: 'reports', name: 'Reports', version: '1.0.0', tools: { report }, tasks })
}
