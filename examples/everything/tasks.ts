/** Tools whose calls become tasks, as the official conformance suite asks for them. */
import { createTool, ProtocolError } from 'mayfly-mcp'
import * as z from 'zod'

const confirmation = z.object({ confirm: z.boolean() })

/** Too many wait for a minute to leave them in the memory of a test run. */
const TTL_MS = 600_000

export const tasks = {
  greet: createTool({
    id: 'greet',
    description: 'Greets somebody',
    inputSchema: z.object({ name: z.string() }),
    execute: ({ name }) => `Hello, ${name}!`,
  }),

  slow_compute: createTool({
    id: 'slow_compute',
    description: 'Takes as many seconds as you say',
    inputSchema: z.object({ seconds: z.number().min(0), label: z.string().optional() }),
    task: { mode: 'auto', ttlMs: TTL_MS, pollIntervalMs: 500 },
    execute: async ({ seconds, label = 'it' }, ctx) => {
      await ctx.sleep('compute', seconds * 1000)
      return `Computed ${label}.`
    },
  }),

  failing_job: createTool({
    id: 'failing_job',
    description: 'Fails after a second',
    task: { mode: 'required', fallback: 'refuse', ttlMs: TTL_MS, pollIntervalMs: 500 },
    execute: async (_input, ctx) => {
      await ctx.sleep('before it fails', 1000)
      throw new Error('The job has failed.')
    },
  }),

  protocol_error_job: createTool({
    id: 'protocol_error_job',
    description: 'Ends with a protocol error',
    task: { mode: 'required', ttlMs: TTL_MS, pollIntervalMs: 500 },
    execute: () => {
      throw new ProtocolError(-32603, 'The job cannot be done.')
    },
  }),

  confirm_delete: createTool({
    id: 'confirm_delete',
    description: 'Deletes a file, if you confirm it',
    inputSchema: z.object({ filename: z.string() }),
    task: { mode: 'required', ttlMs: TTL_MS, pollIntervalMs: 500 },
    execute: async ({ filename }, ctx) => {
      const answer = await ctx.elicit(`Delete ${filename}?`, confirmation)
      return answer.action === 'accept' && answer.content.confirm
        ? `Deleted ${filename}.`
        : 'Nothing was deleted.'
    },
  }),

  multi_input: createTool({
    id: 'multi_input',
    description: 'Asks two questions at once',
    task: { mode: 'required', ttlMs: TTL_MS, pollIntervalMs: 500 },
    execute: async (_input, ctx) => {
      const form = z.object({ name: z.string().optional(), confirm: z.boolean().optional() })
      const answers = await Promise.all([ctx.elicit('Your name?', form), ctx.elicit('Are you sure?', form)])
      return answers.map(({ action }) => action).join(', ')
    },
  }),

  test_tool_with_task: createTool({
    id: 'test_tool_with_task',
    description: 'Asks for a name, and then works on',
    task: { mode: 'auto', ttlMs: TTL_MS, pollIntervalMs: 500 },
    execute: async (_input, ctx) => {
      const answer = await ctx.elicit('Your name?', z.object({ name: z.string() }), { key: 'user_name' })
      await ctx.sleep('work', 200)
      return answer.action === 'accept' ? `Done for ${answer.content.name}.` : 'Done for nobody.'
    },
  }),
}
