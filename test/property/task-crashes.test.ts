import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMemoryTaskStore } from '../../src/tasks.ts'
import { startClock, stopClock, wait } from './_clock.ts'
import { check } from './_seeded.ts'
import { plans } from './_task-crashes.ts'
import { crashThrough } from './_task-in-memory.ts'

const RUNS = 1000

beforeEach(startClock)
afterEach(stopClock)

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
