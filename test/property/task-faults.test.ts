/**
 * Every write of every scenario, with every fault: what was decided is not decided again, every task ends as its inputs allow, and one beside
 * it in time. `test/runtimes/tasks/faults.test.ts` has real stores.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startClock, stopClock } from './_clock.ts'
import { SCENARIOS } from './_decisions.ts'
import { runWithEveryFault } from './_every-fault.ts'
import { inMemory } from './_fault-run.ts'

const HOUR_MS = 3_600_000

beforeEach(startClock)
afterEach(stopClock)

test.each([
  ['at the same time', [0, 0, 0]],
  ['that differ by two hours', [HOUR_MS, -HOUR_MS, 0]],
])('processes with clocks %s', { timeout: 300_000 }, async (_name, skewsMs) => {
  const { found, runs } = await runWithEveryFault(SCENARIOS, () => inMemory(skewsMs))
  expect(found).toEqual([])
  expect(runs).toBeGreaterThan(500)
})
