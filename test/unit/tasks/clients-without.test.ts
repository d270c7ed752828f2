/** What clients without the tasks extension get. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import type { TaskOptions } from '../../../src/tasks.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { type Answer, legacy, META, modern, textOf } from '../_client.ts'
import { ABLE, TASKS, TaskClient } from './_tasks.ts'

const confirm = z.object({ confirm: z.boolean() })
const UNABLE = { [META.clientCapabilities]: {} }

function server(task: TaskOptions, maxCallMs = 60_000): TaskClient {
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ ask: z.boolean().default(false), ms: z.number().default(0) }),
    task,
    execute: async ({ ask, ms }, ctx) => {
      await ctx.step('begin', () => 1)
      await ctx.sleep('a moment', ms)
      return ask ? (await ctx.elicit('Sure?', confirm)).action : 'done'
    },
  })
  return new TaskClient({ tools: { job }, tasks: createMemoryTasks(), http: { maxCallMs } })
}

test.each([
  ['modern', modern],
  ['legacy', legacy],
] as const)('wait, %s → the result, also of a tool that sleeps', async (_era, call) => {
  const { server: it } = server({ fallback: 'wait', mode: 'required' })
  const answer = await call(it, 'tools/call', { name: 'job', arguments: { ms: 40 } })
  expect(textOf(answer)).toBe('done')
})

test.each([
  ['modern', modern],
  ['legacy', legacy],
] as const)(
  'wait, %s, longer than the call may take → how to ask for it, and task_status has it',
  async (_era, call) => {
    const client = server({ fallback: 'wait' }, 2000)
    const answer = await call(client.server, 'tools/call', { name: 'job', arguments: { ms: 1200 } })
    const { taskId } = (answer.result!._meta as { 'mayfly/task': { taskId: string } })['mayfly/task']
    expect(textOf(answer)).toContain(`call task_status with {"taskId":"${taskId}"}`)
    await expect
      .poll(async () =>
        textOf(await call(client.server, 'tools/call', { name: 'task_status', arguments: { taskId } })),
      )
      .toBe('done')
  },
)

test('handle, legacy → a task at once, its question answered by task_answer', async () => {
  const client = server({ fallback: 'handle', mode: 'required' })
  const ask = (name: string, args: object) => legacy(client.server, 'tools/call', { name, arguments: args })
  const answer = await ask('job', { ask: true })
  const { taskId } = (answer.result!._meta as { 'mayfly/task': { taskId: string } })['mayfly/task']
  await expect.poll(async () => textOf(await ask('task_status', { taskId }))).toContain('- q1: Sure?')
  await ask('task_answer', { taskId, answers: { q1: { action: 'decline' } } })
  await expect.poll(async () => textOf(await ask('task_status', { taskId }))).toBe('decline')
})

test('handle, auto, legacy → a question makes a task', async () => {
  const client = server({ fallback: 'handle' })
  const answer = await legacy(client.server, 'tools/call', { name: 'job', arguments: { ask: true } })
  expect(textOf(answer)).toContain('- q1: Sure?')
})

test('refuse → -32021 with the extension, for legacy a result that explains it', async () => {
  const { server: it } = server({ fallback: 'refuse', mode: 'required' })
  const { error } = await modern(it, 'tools/call', { name: 'job', arguments: {} })
  expect(error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
  })
  const { result } = await legacy(it, 'tools/call', { name: 'job', arguments: {} })
  expect(result).toMatchObject({ isError: true, _meta: { 'mayfly/degraded': { feature: 'tasks' } } })
})

test('the methods refuse a client that does not declare the extension, and legacy ones do not know them', async () => {
  const client = server({ mode: 'required' })
  const { taskId } = await client.call('job')
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const refused = await client.send(method, { taskId, inputResponses: {} }, { meta: UNABLE })
    expect(refused.error?.code, method).toBe(-32021)
    const unknown = await legacy(client.server, method, { taskId, inputResponses: {} })
    expect(unknown.error?.code, method).toBe(-32601)
  }
  for (const method of ['tasks/list', 'tasks/result'])
    expect((await client.send(method, {})).error?.code, method).toBe(-32601)
})

test('the extension is advertised where tasks are, to modern clients', async () => {
  const { server: it } = server({})
  const discovered = await modern(it, 'server/discover', {}, { meta: ABLE })
  expect(discovered.result!.capabilities).toMatchObject({ extensions: { [TASKS]: {} } })
  const without = new TaskClient({ tools: { plain: createTool({ id: 'plain', execute: () => 1 }) } })
  const other = await modern(without.server, 'server/discover', {}, { meta: ABLE })
  expect(other.result!.capabilities).not.toHaveProperty('extensions')
})

test('task_status and task_answer are listed to clients without the extension alone', async () => {
  const list = async (answer: Promise<Answer>) => {
    const { tools, cacheScope } = (await answer).result as { tools: { name: string }[]; cacheScope?: string }
    return [tools.map(({ name }) => name).join(), cacheScope]
  }
  const { server: it } = server({})
  const all = 'job,task_status,task_answer'
  expect(await list(modern(it, 'tools/list', {}, { meta: UNABLE }))).toEqual([all, 'private'])
  expect(await list(modern(it, 'tools/list', {}, { meta: ABLE }))).toEqual(['job', 'private'])
  expect(await list(legacy(it, 'tools/list', {}))).toEqual([all, undefined])
  const { server: refusing } = server({ fallback: 'refuse' })
  expect(await list(modern(refusing, 'tools/list', {}, { meta: ABLE }))).toEqual(['job', 'public'])
  const own = createTool({ id: 'task_status', task: 'auto', execute: () => 1 })
  const cache = { scope: 'public' } as const
  const { server: other } = new TaskClient({ tools: { task_status: own }, tasks: createMemoryTasks(), cache })
  expect(await list(modern(other, 'tools/list', {}, { meta: ABLE }))).toEqual(['task_status', 'private'])
})

test('a result with _meta of its own keeps it in task_status', async () => {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: () => ({ content: [], _meta: { own: 1 } }),
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  await client.until(taskId, 'completed')
  const status = await legacy(client.server, 'tools/call', { name: 'task_status', arguments: { taskId } })
  expect(status.result!._meta).toMatchObject({ own: 1, 'mayfly/task': { taskId, status: 'completed' } })
})

test('wait, legacy, a question that cannot be asked → a task that asks by task_answer', async () => {
  const client = server({ fallback: 'wait' })
  const answer = await legacy(client.server, 'tools/call', { name: 'job', arguments: { ask: true } })
  expect(textOf(answer)).toContain('- q1: Sure?')
})
