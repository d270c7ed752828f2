import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryTaskStore } from '../../src/tasks.ts'
import { check } from './_seeded.ts'
import { plans } from './_task-crashes.ts'
import { crashThrough } from './_task-in-memory.ts'

const RUNS = 1000

const immediate = setImmediate
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Lets promises settle between the steps of the clock: some of them wait for a thread. */
async function wait(ms: number): Promise<void> {
  let isOver = false
  setTimeout(() => {
    isOver = true
  }, ms)
  while (!isOver) {
    for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => immediate(resolve))
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
