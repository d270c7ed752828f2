/** When a runner is told of a task, and what a run tells it. */
import { expect, test, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks, type TaskRunner } from '../../../src/tasks.ts'
import { eventually } from '../../_eventually.ts'
import { deferred } from '../_client.ts'
import { TaskClient } from './_tasks.ts'

/** Long: while it lasts, a test looks at its task, and the run must renew it in time. */
const LEASE_MS = 2000
const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

function open(wake: TaskRunner['wake'], work: (ms: number) => Promise<unknown> = delay) {
  const onError = vi.fn()
  const store = createMemoryTaskStore()
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      await ctx.step('work', () => work(0))
      await ctx.sleep('a while', 60_000)
      return 'done'
    },
  })
  const tasks = createTasks({ store, runner: { wake }, leaseMs: LEASE_MS })
  return { client: new TaskClient({ tools: { job }, tasks, onError }), onError, store, tasks }
}

test('a task is answered once its runner has been told of it: the process may be frozen then', async () => {
  const [asked, told] = [deferred<void>(), deferred<void>()]
  const { client } = open(() => {
    asked.resolve()
    return told.promise
  })
  let isAnswered = false
  const call = client.call('job').then(() => (isAnswered = true))
  await asked.promise
  await delay(50)
  expect(isAnswered).toBe(false)
  told.resolve()
  await call
})

test('a runner that cannot be told → reported, and the task goes on', async () => {
  const { client, onError, store } = open(() => Promise.reject(new Error('the queue is down')))
  const { taskId } = await client.call('job')
  await client.settle()
  expect(onError).toHaveBeenCalledTimes(2)
  expect((await store.read(taskId))!.dueAt).toBeGreaterThan(Date.now() + 50_000)
})

test('a runner that never answers → reported, and the task is answered all the same', async () => {
  const { client, onError } = open(() => new Promise(() => {}))
  await client.call('job')
  expect(onError).toHaveBeenCalledOnce()
  expect(String(onError.mock.calls[0]![0])).toContain('within 1000 ms')
})

test('a run tells when the task is due then: later, never, or now if it could not be run', async () => {
  const { client, store, tasks } = open(() => {})
  const { taskId } = await client.call('job')
  await client.settle()
  const { dueAt } = (await store.read(taskId))!
  expect(await tasks.run(taskId)).toBe(dueAt)
  await client.cancel(taskId)
  expect(await tasks.run(taskId)).toBeNull()
  expect(await tasks.run('unknown')).toBeNull()
  store.read = () => Promise.reject(new Error('down'))
  expect(await tasks.run(taskId)).toBeLessThanOrEqual(Date.now())
  tasks.close()
  expect(await tasks.run(taskId)).toBeLessThanOrEqual(Date.now())
})

test('runners that find a run at work when its lease would have ended → one of them is told of the new end', async () => {
  const wakes: number[] = []
  let finish = (): void => {}
  const { client, tasks } = open(
    (_id, at) => void wakes.push(at),
    () => new Promise<void>((resolve) => (finish = resolve)),
  )
  const { taskId } = await client.call('job')
  expect(wakes).toHaveLength(1)
  expect(await tasks.run(taskId)).toBe(wakes[0])
  expect(wakes).toHaveLength(1)

  await eventually(() => expect(Date.now()).toBeGreaterThan(wakes[0]!))
  const seen = await Promise.all([tasks.run(taskId), tasks.run(taskId), tasks.run(taskId)])
  expect(wakes).toHaveLength(2)
  expect(wakes[1]).toBeGreaterThan(Date.now())
  expect(Math.min(...seen.map(Number))).toBeGreaterThan(wakes[0]!)
  finish()
  await client.settle()
  expect(wakes).toHaveLength(3)
})
