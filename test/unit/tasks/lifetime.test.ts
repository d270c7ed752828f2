/** How long a task is kept: never shorter than it waits. */
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type McpContext } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks, type TaskContext, type TaskStore } from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

const DAY_MS = 86_400_000

afterEach(() => void vi.useRealTimers())

/** A task whose process is only its requests and `runDue`, in a time that the test moves. */
function setUp(execute: (ctx: TaskContext) => Promise<unknown>, ttlMs: number | null = DAY_MS) {
  vi.useFakeTimers({ toFake: ['Date'] })
  const store: TaskStore = createMemoryTaskStore()
  const job = createTool({
    id: 'job',
    task: { mode: 'required', ttlMs },
    execute: async (_input, ctx) => void (await execute(ctx)),
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }) })
  const later = async (ms: number): Promise<void> => {
    vi.setSystemTime(Date.now() + ms)
    await client.server.tasks.runDue()
    await client.settle()
  }
  return { client, later, store }
}

test.each<[string, (ctx: TaskContext) => Promise<unknown>]>([
  ['a sleep', (ctx) => ctx.sleep('long', 30 * DAY_MS)],
  ['a timeout', (ctx) => ctx.waitFor('never', { timeoutMs: 30 * DAY_MS }).catch(() => {})],
])('%s beyond the time to live → the task is kept, and ends [tasks.kept]', async (_what, wait) => {
  const charge = vi.fn()
  const { client, later } = setUp(async (ctx) => {
    await ctx.step('charge', () => charge())
    await wait(ctx)
    await ctx.step('ship', () => 1)
  })
  const { taskId } = await client.call('job')
  await client.settle()
  await later(29 * DAY_MS)
  expect(await client.get(taskId)).toMatchObject({
    status: 'working',
    ttlMs: expect.closeTo(31 * DAY_MS, -4),
  })
  await later(DAY_MS + 1000)
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
  expect(charge).toHaveBeenCalledOnce()
  await later(DAY_MS)
  await expect(client.get(taskId)).rejects.toMatchObject({ code: -32602 })
})

test('a task that sleeps again and again is kept, and its time to live is written rarely', async () => {
  const { client, later, store } = setUp(async (ctx) => {
    for (let n = 0; n < 72; n++) await ctx.sleep(`hour ${n}`, DAY_MS / 24)
  })
  const replace = vi.spyOn(store, 'replace')
  const { taskId } = await client.call('job')
  await client.settle()
  for (let n = 0; n < 72; n++) await later(DAY_MS / 24)
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
  const times = new Set(replace.mock.calls.map(([{ expiresAt }]) => expiresAt))
  expect(times.size).toBeLessThan(10)
})

test('after each event and answer, and once it has ended, half of the time to live is left [tasks.kept]', async () => {
  const { client, later } = setUp(async (ctx) => {
    await ctx.waitFor('paid')
    await (ctx as McpContext).elicit('Go on?', z.object({}))
  })
  const { taskId } = await client.call('job')
  await client.settle()
  await later(0.9 * DAY_MS)
  await client.server.tasks.send(taskId, 'paid')
  await later(0)
  await later(0.9 * DAY_MS)
  const { inputRequests } = await client.get(taskId)
  await client.update(taskId, { [Object.keys(inputRequests!)[0]!]: { action: 'accept', content: {} } })
  await client.settle()
  await later(0.49 * DAY_MS)
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
})

test('a wait without a timeout ends with the task, and its client is told that this may be why', async () => {
  const { client, later } = setUp((ctx) => ctx.waitFor('paid'))
  const { taskId } = await client.call('job')
  await client.settle()
  await later(DAY_MS + 1000)
  await expect(client.get(taskId)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringMatching(/its ttlMs is over: then a task is deleted, even while it waits/),
  })
  expect(await client.server.tasks.send(taskId, 'paid')).toBe(false)
})

test('ttlMs: null → kept for ever', async () => {
  const { client, later } = setUp((ctx) => ctx.waitFor('paid'), null)
  const { taskId } = await client.call('job')
  await client.settle()
  await later(10_000 * DAY_MS)
  expect(await client.get(taskId)).toMatchObject({ status: 'working', ttlMs: null })
})

test('a task of a version that stored no original time to live goes on [tasks.kept]', async () => {
  const { client, later, store } = setUp((ctx) => ctx.sleep('long', DAY_MS / 2))
  const { taskId } = await client.call('job')
  await client.settle()
  const { keepMs: _, ...old } = JSON.parse((await store.read(taskId))!.state) as { keepMs?: number }
  const task = (await store.read(taskId))!
  await store.replace({ ...task, version: task.version + 1, state: JSON.stringify(old) })
  await later(DAY_MS / 2)
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
})
