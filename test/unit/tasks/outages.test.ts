/** Stores that fail, and steps that do. */
import { afterEach, expect, test, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import { createTimerRunner } from '../../../src/tasks/timer-runner.ts'
import { createMemoryTaskStore, createTasks, type TaskStore } from '../../../src/tasks.ts'
import { eventually } from '../../_eventually.ts'
import { createCounted, TaskClient } from './_tasks.ts'

afterEach(() => void vi.useRealTimers())

/** A store that fails as long as it is told to. */
function failing(): TaskStore & { fails: Set<string> } {
  const store = createMemoryTaskStore()
  const fails = new Set<string>()
  const guard = async <T>(method: string, work: () => Promise<T>): Promise<T> => {
    if (fails.has(method)) throw new Error(`the store is down: ${method}`)
    return work()
  }
  return {
    ...store,
    fails,
    create: (...args) => guard('create', () => store.create(...args)),
    read: (...args) => guard('read', () => store.read(...args)),
    replace: (...args) => guard('replace', () => store.replace(...args)),
  }
}

test('the store is down when a call would become a task → the call goes on and is answered', async () => {
  const store = failing()
  store.fails.add('create')
  const reported: unknown[] = []
  const job = createTool({
    id: 'job',
    task: { afterMs: 10 },
    execute: () =>
      eventually(() => {
        expect(reported).toHaveLength(1)
        return 'done'
      }),
  })
  const tasks = createTasks({ store })
  const client = new TaskClient({ tools: { job }, tasks, onError: (error) => void reported.push(error) })
  expect(await client.call('job')).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
  expect(reported).toHaveLength(1)
})

test.each([
  ['a moment', ['replace'], 100, 30_000],
  ['longer than the lease', ['read', 'replace'], 600, 150],
] as const)(
  'the store is down for %s while a step is recorded → the step is not done twice, and the task ends',
  async (_time, methods, downMs, leaseMs) => {
    const store = failing()
    const { job, runs } = createCounted(() => {
      for (const method of methods) store.fails.add(method)
      setTimeout(() => store.fails.clear(), downMs)
    })
    const client = new TaskClient({
      tools: { job },
      tasks: createTasks({ store, leaseMs }),
      onError: () => {},
    })
    const { taskId } = await client.call('job')
    await client.settle()
    expect((await client.get(taskId)).status).toBe('completed')
    expect(runs()).toBe(1)
  },
)

test('the store is down for longer than a run tries → the run is given up, and another ends the task', async () => {
  const store = failing()
  const { job, runs } = createCounted((run) => {
    if (run === 1) store.fails.add('replace')
  })
  const tasks = createTasks({ store, runner: createTimerRunner(), leaseMs: 300, maxRunMs: 2000 })
  const client = new TaskClient({ tools: { job }, tasks, onError: () => {} })
  const { taskId } = await client.call('job')
  await client.settle()
  expect((await client.get(taskId)).status).toBe('working')
  store.fails.clear()
  expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('done')
  expect(runs()).toBe(2)
})

test('a run that loses its lease without a step → the next has one of twice the length, up to maxRunMs', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const store = createMemoryTaskStore()
  const leases: number[] = []
  let isStuck = true
  const process = () => {
    const job = createTool({
      id: 'job',
      task: 'required',
      execute: async (_input, ctx) => {
        if (isStuck) await new Promise(() => {})
        await ctx.step('one', () => 1)
        return 'done'
      },
    })
    const tasks = createTasks({ store, leaseMs: 30_000, maxRunMs: 100_000, runner: { wake: () => {} } })
    return new TaskClient({ tools: { job }, tasks })
  }
  const { taskId } = await process().call('job')
  for (let run = 0; run < 4; run++) {
    const { dueAt } = (await store.read(taskId))!
    // The clock goes on by milliseconds while the test waits.
    leases.push(Math.round((dueAt! - Date.now()) / 1000) * 1000)
    vi.setSystemTime(dueAt!)
    isStuck = run < 3
    const { server } = process()
    void server.tasks.run(taskId)
    await vi.waitFor(async () => expect((await store.read(taskId))!.dueAt).not.toBe(dueAt))
  }
  expect(leases).toEqual([30_000, 60_000, 100_000, 100_000])
  await vi.waitFor(async () => expect(await store.read(taskId)).toMatchObject({ isOpen: false }))
})

test('a step that fails may be tried again, with the same key; so may one in another run', async () => {
  const keys: string[] = []
  const job = createTool({
    id: 'job',
    task: { afterMs: 20 },
    execute: async (_input, ctx) => {
      const pay = () =>
        ctx.step('pay', async ({ idempotencyKey }) => {
          keys.push(idempotencyKey)
          if (keys.length < 3) throw new Error('not now')
        })
      await pay().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 50))
      await pay().catch(() => {})
      if (keys.length === 2) await ctx.sleep('a moment', 10)
      await pay()
      return 'paid'
    },
  })
  const tasks = createTasks({ store: createMemoryTaskStore(), runner: createTimerRunner() })
  const client = new TaskClient({ tools: { job }, tasks, onError: () => {} })
  const { taskId } = await client.call('job')
  await client.until(taskId, 'completed')
  expect(keys.length).toBeGreaterThanOrEqual(3)
  expect(new Set(keys).size).toBe(1)
})

test('parallel steps of which one is too large → only that one fails', async () => {
  const store: TaskStore = { ...createMemoryTaskStore(), maxStateBytes: 20_000 }
  let small = 0
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      const [one, two] = await Promise.allSettled([
        ctx.step('small', () => ++small),
        ctx.step('large', () => 'a'.repeat(30_000)),
      ])
      return `${one.status} ${two.status}`
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }) })
  const { taskId } = await client.call('job')
  const ended = await client.until(taskId, 'completed')
  expect(ended.result!.content[0]!.text).toBe('fulfilled rejected')
  expect(small).toBe(1)
})

test('a store that takes longer than afterMs → one task, and a step after the pause once', async () => {
  const store = createMemoryTaskStore()
  let created = 0
  const slow: TaskStore = {
    ...store,
    async create(...args) {
      created++
      await new Promise((resolve) => setTimeout(resolve, 80))
      return store.create(...args)
    },
  }
  let charges = 0
  const job = createTool({
    id: 'job',
    task: { afterMs: 20 },
    execute: async (_input, ctx) => {
      await ctx.sleep('a moment', 50)
      await ctx.step('charge', () => void charges++)
      return 'done'
    },
  })
  const tasks = createTasks({ store: slow, runner: createTimerRunner() })
  const client = new TaskClient({ tools: { job }, tasks, onError: () => {} })
  const { taskId } = await client.call('job')
  await client.until(taskId, 'completed')
  expect([created, charges]).toEqual([1, 1])
})
