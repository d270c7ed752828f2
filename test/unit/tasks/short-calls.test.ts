/** A task of an hour where no call may take longer than ten seconds, and only a cron calls, once a minute. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createTaskEndpoint, createTasks } from '../../../src/tasks.ts'
import { TaskClient } from './_tasks.ts'

const MINUTE_MS = 60_000
const LIMIT_MS = 10_000
const TICK_MS = 100

const real = setTimeout
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Lets the clock go on until it is done. Resolves with the milliseconds that it took. */
async function lasted(work: Promise<unknown>): Promise<number> {
  const startedAt = Date.now()
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    // Digests are made by another thread.
    await new Promise((resolve) => real(resolve, 2))
    if (!isDone) vi.advanceTimersByTime(TICK_MS)
  }
  return Date.now() - startedAt
}

test('steps of seconds and sleeps of minutes, an hour in all, in calls of ten seconds → done', async () => {
  let latest = 0
  const running = new Set<number>()
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      for (let n = 0; n < 24; n++) {
        await ctx.step(`step ${n}`, async () => {
          // A later one begins only once this one is in the store.
          expect(n).toBeGreaterThanOrEqual(latest)
          latest = n
          running.add(n)
          // What is still under way when the call ends is lost, as its process is.
          ctx.signal.addEventListener('abort', () => running.delete(n))
          await wait((n % 7) * 1000 + 500)
          running.delete(n)
        })
        if (n % 2 === 1) await ctx.sleep(`sleep ${n}`, 5 * MINUTE_MS)
      }
      return 'done'
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store: createMemoryTaskStore() }) })
  const secret = 'a-secret-of-thirty-two-characters!'
  const url = 'https://shop.example/tasks'
  const endpoint = createTaskEndpoint({ server: client.server, url, secret, maxDurationMs: LIMIT_MS })
  const startedAt = Date.now()
  const platform = {
    deadline: startedAt + LIMIT_MS,
    waitUntil: (work: Promise<unknown>) => void client.work.push(work),
  }
  const { taskId } = await client.call('job', {}, { platform })
  expect(await lasted(client.settle())).toBeLessThanOrEqual(LIMIT_MS)
  let calls = 0
  // Too short for a run.
  const look = () => client.get(taskId, { platform: { deadline: Date.now() + 1500 } })
  const isDone = async () => (await look()).status !== 'working'
  while (calls < 120 && !(await isDone())) {
    vi.setSystemTime(startedAt + ++calls * MINUTE_MS)
    const cron = endpoint.fetch(new Request(url, { headers: { authorization: `Bearer ${secret}` } }))
    expect(await lasted(cron)).toBeLessThanOrEqual(LIMIT_MS)
    expect(running.size).toBe(0)
  }
  expect(await client.get(taskId)).toMatchObject({
    status: 'completed',
    result: { content: [{ text: 'done' }] },
  })
  expect(latest).toBe(23)
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(60 * MINUTE_MS)
})
