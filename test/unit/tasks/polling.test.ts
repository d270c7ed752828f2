/** The runner of processes that stay. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pollingRunner } from '../../../src/tasks.ts'

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const closing: (() => void)[] = []
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  for (const close of closing.splice(0)) close()
  vi.useRealTimers()
})

function attach(runDue: () => Promise<number>): void {
  const runner = pollingRunner({ everyMs: 20, limit: 1 })
  runner.attach!({ runDue, run: async () => null, send: async () => false })
  closing.push(() => runner.close!())
}

test('tasks that are due and cannot be run → looked for again, but not without a pause', async () => {
  let looks = 0
  attach(async () => {
    looks++
    await delay(0)
    return 1
  })
  await vi.advanceTimersByTimeAsync(300)
  expect(looks).toBeGreaterThan(3)
  expect(looks).toBeLessThan(20)
})

test('a run that takes long → others are looked for meanwhile', async () => {
  let looks = 0
  attach(() => (++looks === 1 ? new Promise(() => {}) : Promise.resolve(0)))
  await vi.advanceTimersByTimeAsync(200)
  expect(looks).toBeGreaterThan(2)
})

test('one runner for the tasks and the Events of a server → each timer runs its own', async () => {
  const ran: string[] = []
  const part = (name: string) => ({
    run: async (id: string) => {
      ran.push(`${name} ${id}`)
      return null
    },
    runDue: async () => 0,
    send: async () => false,
  })
  const owner = { tag: () => 'shop', see() {}, isForeign: () => false }
  const runner = pollingRunner({ everyMs: 60_000 })
  closing.push(() => runner.close!())
  runner.attach!(part('tasks'), owner)
  runner.attach!(part('events'), { ...owner, only: 'events' })
  runner.wake('events', Date.now() + 10)
  runner.wake('a', Date.now() + 20)
  await vi.advanceTimersByTimeAsync(100)
  expect(ran).toEqual(['events events', 'tasks a'])
})
