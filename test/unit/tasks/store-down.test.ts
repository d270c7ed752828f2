/** A store that is down for a moment costs time, and nothing else. */
import { expect, test } from 'vitest'
import { createTool, ProtocolError } from '../../../src/index.ts'
import { createMemoryTaskStore, createMemoryTasks, createTasks, type TaskStore } from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const quiet = { onError: () => {} }

/** A store whose next writes reject. A rejection that nobody handles fails the test. */
function failing() {
  const memory = createMemoryTaskStore()
  const rejecting = { create: 0, replace: 0 }
  const store: TaskStore = {
    ...memory,
    create: (task, maxOpen) => refuse('create') ?? memory.create(task, maxOpen),
    replace: (task) => refuse('replace') ?? memory.replace(task),
  }
  const refuse = (name: keyof typeof rejecting): Promise<never> | undefined =>
    rejecting[name]-- > 0 ? Promise.reject(new Error(`${name} is down at 10.0.0.5`)) : undefined
  return { rejecting, store }
}

test.each([
  ['a moment → it becomes one', 1, 'working'],
  ['longer → it goes on without one, and is answered', Number.POSITIVE_INFINITY, undefined],
])('while a call becomes a task, for %s', async (_what, count, status) => {
  const { rejecting, store } = failing()
  rejecting.create = count
  let steps = 0
  const job = createTool({
    id: 'job',
    task: { mode: 'auto', afterMs: 10 },
    execute: async (_input, ctx) => {
      await ctx.step('one', () => delay(60).then(() => ++steps))
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }), ...quiet })
  const answer = await client.call('job')
  expect(answer.status).toBe(status)
  const { content } = status ? (await client.until(answer.taskId, 'completed')).result! : (answer as never)
  expect(content).toMatchObject([{ text: 'done' }])
  expect(steps).toBe(1)
})

test('arguments that do not fit in the store → the call goes on, too', async () => {
  const store = { ...createMemoryTaskStore(), maxStateBytes: 1000 }
  const job = createTool({
    id: 'job',
    task: { mode: 'auto', afterMs: 10 },
    execute: async () => {
      await delay(60)
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }), ...quiet })
  expect(await client.call('job', { text: 'a'.repeat(2000) })).toMatchObject({ content: [{ text: 'done' }] })
})

test.each([1, 2, 3, 20])(
  '%i writes rejected at a sleep, after a step, at the end → done, each step once',
  async (count) => {
    for (const where of ['step', 'sleep', 'end']) {
      const { rejecting, store } = failing()
      let steps = 0
      let isDown = true
      const fail = (at: string): void => {
        if (at === where && isDown) rejecting.replace = count
        if (at === where) isDown = false
      }
      const job = createTool({
        id: 'job',
        task: 'required',
        execute: async (_input, ctx) => {
          await ctx.step('one', () => {
            fail('step')
            steps++
          })
          fail('sleep')
          await ctx.sleep('a', 20)
          fail('end')
          return 'done'
        },
      })
      // A run whose writes fail for as long as its lease counts as dead, and its step may run again.
      const outlivesLease = count > 2
      const tasks = createTasks({ store, leaseMs: outlivesLease ? 400 : 10_000 })
      const client = new TaskClient({ tools: { job }, tasks, ...quiet })
      const { taskId } = await client.call('job')
      setTimeout(() => {
        rejecting.replace = 0
      }, 900)
      const { result } = await client.until(taskId, 'completed', 'failed')
      expect(result, where).toMatchObject({ content: [{ text: 'done' }] })
      if (!outlivesLease) expect(steps).toBe(1)
    }
  },
  20_000,
)

test('progress that cannot be written → tried again', async () => {
  const { rejecting, store } = failing()
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      rejecting.replace = 1
      ctx.reportProgress({ progress: 1, message: 'a'.repeat(2_000_000) })
      await delay(1300)
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }), ...quiet })
  const { taskId } = await client.call('job')
  expect(await client.until(taskId, 'completed', 'failed')).toMatchObject({ status: 'completed' })
})

const circular: { self?: object } = {}
circular.self = circular
test.each([
  ['data that is not JSON', () => new ProtocolError(-32000, 'No.', { n: 1n })],
  ['circular data', () => new ProtocolError(-32000, 'No.', circular)],
  ['a huge message', () => new ProtocolError(-32000, 'a'.repeat(2_000_000))],
])('an error with %s → failed all the same', async (_what, toError) => {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: () => {
      throw toError()
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), ...quiet })
  const { taskId } = await client.call('job')
  expect(await client.until(taskId, 'failed')).toMatchObject({ status: 'failed' })
})

test('the key of a step is the same before and after the call became a task', async () => {
  const keys: string[] = []
  const job = createTool({
    id: 'job',
    task: { mode: 'auto', afterMs: 10 },
    execute: async (_input, ctx) => {
      await ctx.step('charge', async ({ idempotencyKey }) => {
        keys.push(idempotencyKey)
        if (keys.length === 1) await new Promise(() => {}) // the process dies
      })
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks({ maxRunMs: 2000 }) })
  const { taskId } = await client.call('job')
  await client.until(taskId, 'completed')
  expect(keys).toEqual([keys[0], keys[0]])
})

test('tasks/cancel of a call that became a task → its signal aborts at once', async () => {
  let signal: AbortSignal | undefined
  const job = createTool({
    id: 'job',
    task: { mode: 'auto', afterMs: 10 },
    execute: async (_input, ctx) => {
      signal = ctx.signal
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  const { taskId } = await client.call('job')
  await client.cancel(taskId)
  expect(signal!.aborted).toBe(true)
})
