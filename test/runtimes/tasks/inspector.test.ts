/**
 * The Inspector's command line drives tasks. It has no way to answer a question of its own (`--cli` of 2.12.0 ends without a word when it is
 * asked), so a task with a question goes to its end by the tools for clients without the extension.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as z from 'zod'
import { type NodeServer, serve } from '../../../adapters/node.ts'
import { createTool, MCPServer } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'

const INSPECTOR = fileURLToPath(new URL('inspector/node_modules/.bin/mcp-inspector', import.meta.url))

interface Result {
  readonly content: readonly { readonly text: string }[]
  readonly _meta?: { readonly 'mayfly/task': { readonly taskId: string } }
}

const job = createTool({
  id: 'job',
  description: 'Sleeps, and asks whether to go on',
  inputSchema: z.object({ ask: z.boolean() }),
  task: { mode: 'required', fallback: 'handle', pollIntervalMs: 100 },
  execute: async ({ ask }, ctx) => {
    await ctx.sleep('a moment', 200)
    if (!ask) return 'slept'
    const answer = await ctx.elicit('Go on?', z.object({ yes: z.boolean() }))
    return answer.action === 'accept' && answer.content.yes ? 'went on' : 'stayed'
  },
})

let served: NodeServer
beforeAll(async () => {
  const server = new MCPServer({
    id: 'inspected',
    name: 'Inspected',
    version: '1.0.0',
    log: false,
    tools: { job },
    tasks: createMemoryTasks(),
  })
  served = await serve(server, { port: 0 })
})
afterAll(() => served?.close())

async function call(era: 'legacy' | 'modern', name: string, args: object): Promise<Result> {
  const order = ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)]
  const all = [INSPECTOR, '--cli', '--protocol-era', era, ...order, served.url]
  const { stdout } = await promisify(execFile)(process.execPath, all, { timeout: 60_000 })
  return JSON.parse(stdout) as Result
}

it('modern: the Inspector waits through a task [tasks.inspector]', async () => {
  expect((await call('modern', 'job', { ask: false })).content[0]!.text).toBe('slept')
})

it('legacy: a task with a question, by task_status and task_answer [tasks.inspector]', async () => {
  const { taskId } = (await call('legacy', 'job', { ask: true }))._meta!['mayfly/task']
  const status = async () => (await call('legacy', 'task_status', { taskId })).content[0]!.text
  await expect.poll(status).toContain('- q1: Go on?')
  const answers = { q1: { action: 'accept', content: { yes: true } } }
  await call('legacy', 'task_answer', { taskId, answers })
  await expect.poll(status).toBe('went on')
})
