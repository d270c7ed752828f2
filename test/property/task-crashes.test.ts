import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryTaskStore } from '../../src/tasks.ts'
import { check } from './_seeded.ts'
import { plans } from './_task-crashes.ts'
import { crashThrough } from './_task-in-memory.ts'

const RUNS = 1000

/** Work of `crypto.subtle` that a thread has not done yet: the clock waits for it, or a lease could end while a busy machine is late. */
let inThreads = 0

const immediate = setImmediate
beforeEach(() => {
  for (const name of ['digest', 'encrypt', 'decrypt', 'importKey', 'deriveKey', 'deriveBits'] as const) {
    const original = crypto.subtle[name].bind(crypto.subtle) as (...args: unknown[]) => Promise<unknown>
    const counted = async (...args: unknown[]): Promise<unknown> => {
      inThreads++
      try {
        return await original(...args)
      } finally {
        inThreads--
      }
    }
    vi.spyOn(crypto.subtle, name).mockImplementation(counted as never)
  }
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Lets promises settle between the steps of the clock. */
async function wait(ms: number): Promise<void> {
  let isOver = false
  setTimeout(() => {
    isOver = true
  }, ms)
  while (!isOver) {
    do for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => immediate(resolve))
    while (inThreads > 0)
    vi.advanceTimersByTime(1)
  }
}

test(`a process dies at any write of a ten-step task, ${RUNS} times → it ends, and no recorded step runs again`, {
  timeout: 300_000,
}, async () => {
  let seeds = 0
  const ends = fc.asyncProperty(plans, async (plan) => {
    seeds++
    await crashThrough(createMemoryTaskStore(), plan, wait)
  })
  await check(ends, RUNS)
  expect(seeds).toBeGreaterThanOrEqual(RUNS)
})
