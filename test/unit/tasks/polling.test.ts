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
