/** What an earlier file of this thread left running leaves the clocks of tests alone (`test/_globals.ts`). */
import { promisify } from 'node:util'
import { afterEach, expect, it, vi } from 'vitest'

const thread = (globalThis as unknown as { [key: symbol]: { file: number } })[
  Symbol.for('mayfly.test.thread')
]!

const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as (
  | 'setTimeout'
  | 'clearTimeout'
  | 'setInterval'
  | 'clearInterval'
)[]

async function passReally(ms: number): Promise<void> {
  const until = process.hrtime.bigint() + BigInt(ms) * 1_000_000n
  while (process.hrtime.bigint() < until) await new Promise((resolve) => setImmediate(resolve))
}

afterEach(() => {
  vi.useRealTimers()
})

it.each([
  ['a timer', setTimeout, clearTimeout],
  ['an interval', setInterval, clearInterval],
] as const)(
  '%s of an earlier file → waits while a test has a clock of its own',
  async (_what, start, stop) => {
    const timer = start(() => {
      calls++
      setTimeout(() => {}, 1000)
    }, 1)
    let calls = 0
    thread.file++
    try {
      vi.useFakeTimers({ toFake: FAKED })
      await passReally(20)
      expect([calls, vi.getTimerCount()]).toEqual([0, 0])
      vi.useRealTimers()
      await vi.waitFor(() => expect(calls).toBeGreaterThan(0))
    } finally {
      stop(timer)
      thread.file--
    }
  },
)

it('timers of this file are not held up by its clock, and are Node’s', async () => {
  const early = vi.fn()
  setTimeout(early, 1, 'a', 2)
  vi.useFakeTimers({ toFake: FAKED })
  await passReally(20)
  expect(early).toHaveBeenCalledWith('a', 2)
  vi.useRealTimers()
  expect(await promisify(setTimeout)(1, 'ended')).toBe('ended')
})
