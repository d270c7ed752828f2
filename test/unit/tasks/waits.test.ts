/** Sleeps and events in the wrong place, calls whose client goes away, and timers that nobody needs any more. */
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createTool, type McpContext } from '../../../src/index.ts'
import {
  createMemoryTaskStore,
  createMemoryTasks,
  createTasks,
  type TaskContext,
  type TaskStore,
} from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

afterEach(() => {
  vi.useRealTimers()
})

test.each<[string, (ctx: TaskContext) => Promise<unknown>, RegExp]>([
  ['a step named like a sleep', (ctx) => ctx.step('ctx.sleep a', () => 1), /cannot be called "ctx.sleep a"/],
  [
    'a sleep inside a step',
    (ctx) => ctx.step('one', () => ctx.sleep('a', 1)),
    /ctx.sleep\("a"\) was called inside/,
  ],
  [
    'an event inside a step',
    (ctx) => ctx.step('one', () => ctx.waitFor('a')),
    /ctx.waitFor\("a"\) was called/,
  ],
])('%s → an error that says so', async (_what, run, message) => {
  const job = createTool({
    id: 'job',
    inputSchema: z.object({}),
    task: 'required',
    execute: async (_input, ctx) => void (await run(ctx)),
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks(), onError: () => {} })
  const { taskId } = await client.call('job')
  const { result } = await client.until(taskId, 'completed')
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(message) }] })
})

/** A store that takes its time to create a task. */
function slowToCreate(isCreated: boolean) {
  const memory = createMemoryTaskStore()
  let letGo = () => {}
  let begin = () => {}
  const creating = new Promise<void>((resolve) => {
    begin = resolve
  })
  const store: TaskStore = {
    ...memory,
    async create(task, maxOpen) {
      begin()
      await new Promise<void>((resolve) => {
        letGo = resolve
      })
      return isCreated && memory.create(task, maxOpen)
    },
  }
  return { store, creating, letGo: () => letGo() }
}

test.each([true, false])(
  'the client goes away while the call becomes a task: %s → the tool goes on only as a task',
  async (isCreated) => {
    const { store, creating, letGo } = slowToCreate(isCreated)
    let ctx: McpContext | undefined
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const job = createTool({
      id: 'job',
      task: { mode: 'auto', afterMs: 10 },
      execute: async (_input, context) => {
        ctx = context
        await context.step('long', () => ended)
      },
    })
    const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }) })
    const leaving = new AbortController()
    const answer = client.call('job', {}, { signal: leaving.signal }).catch(() => {})
    await creating
    leaving.abort()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(ctx!.signal.aborted).toBe(false)
    letGo()
    await expect.poll(() => ctx!.signal.aborted).toBe(!isCreated)
    end()
    void answer
  },
)

test('a task that was cancelled while it slept leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: (_input, ctx) => {
      hasBegun = true
      return ctx.sleep('long', 86_400_000)
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createMemoryTasks() })
  let hasBegun = false
  // Digests are made by another thread, which may take any number of turns: a run or a request has timers of its own until it is over.
  const timersAfter = async (isOver: () => boolean): Promise<number> => {
    for (let turn = 0; turn < 10_000 && !isOver(); turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      vi.advanceTimersByTime(1)
    }
    return vi.getTimerCount()
  }
  const { taskId } = await client.call('job')
  expect(await timersAfter(() => hasBegun && vi.getTimerCount() === 1)).toBe(1)
  await client.cancel(taskId)
  expect(await timersAfter(() => vi.getTimerCount() === 0)).toBe(0)
})
