/** Sleeps, events and steps of one run share one journal, also at the same time. */
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { type SeenTask, TaskClient } from './_tasks.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const MINUTE_MS = 60_000

/** Calls `job`, whose sleep of a minute ends once it is a task: a short one could end before. */
async function callAndWake(client: TaskClient): Promise<SeenTask> {
  const { taskId } = await client.call('job')
  await client.settle()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MINUTE_MS })
  await client.server.tasks.run(taskId)
  return client.get(taskId)
}

test.each(['required', 'auto'] as const)('%s: a sleep beside a step → slept once', async (task) => {
  const job = createTool({
    id: 'job',
    task,
    execute: async (_input, ctx) => {
      await Promise.all([ctx.sleep('a', MINUTE_MS), ctx.step('one', () => delay(10))])
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  expect(await callAndWake(client)).toMatchObject({ status: 'completed' })
})

test.each(['required', 'auto'] as const)('%s: an event or a time, then steps → done', async (task) => {
  let ran = 0
  const job = createTool({
    id: 'job',
    task,
    execute: async (_input, ctx) => {
      const first = await Promise.race([ctx.sleep('a', MINUTE_MS).then(() => 'late'), ctx.waitFor('x')])
      await ctx.step('one', () => delay(10))
      await ctx.step('two', () => ++ran)
      return first
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  expect(await callAndWake(client)).toMatchObject({
    status: 'completed',
    result: { content: [{ text: 'late' }] },
  })
  expect(ran).toBe(1)
})

test('a timer that is early → the task runs when its time has come', async () => {
  const real = setTimeout
  const early = (run: () => void, ms = 0) => real(run, ms > 10 ? ms - 10 : ms)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(early as never)
  const woken = await new Promise((resolve) => {
    const job = createTool({
      id: 'job',
      task: 'required',
      execute: async (_input, ctx) => {
        await ctx.sleep('a', 50)
        resolve('woken')
        return 'done'
      },
    })
    void new TaskClient({ tools: { job }, tasks: createMemoryTasks() }).call('job')
  })
  expect(woken).toBe('woken')
})

test('a timeout that was decided stays so after a step, also if the event comes then', async () => {
  let goOn!: () => void
  const isLate = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      const first = await ctx.waitFor('x', { timeoutMs: 20 }).catch(() => 'late')
      await ctx.step('one', () => delay(10))
      goOn()
      await ctx.waitFor('y')
      return first
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  await isLate
  await client.server.tasks.send(taskId, 'x', 'in time')
  await client.server.tasks.send(taskId, 'y')
  const { result } = await client.until(taskId, 'completed')
  expect(result!.content[0]!.text).toBe('late')
})

test.each([
  ['a sleep', 'completed'],
  ['a question', 'input_required'],
])('%s beside a step of minutes → waits for it', async (what, status) => {
  const real = setTimeout
  // The minute that a question of a call waits for a step.
  const faster = (run: () => void, ms?: number) => real(run, ms === 60_000 ? 50 : ms)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(faster as never)
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      const pause =
        what === 'a sleep' ? ctx.sleep('a', 10) : ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
      await Promise.all([pause, ctx.step('long', () => delay(200))])
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  expect(await client.until(taskId, status, 'failed')).toMatchObject({ status })
})
