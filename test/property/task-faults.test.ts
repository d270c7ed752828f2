/** Every write of every scenario, with every fault: what was decided is not decided again, and every task ends as its inputs allow. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startClock, stopClock } from './_clock.ts'
import { SCENARIOS } from './_decisions.ts'
import { runWithFault } from './_fault-run.ts'
import { FAULTS } from './_faulty-store.ts'

beforeEach(startClock)
afterEach(stopClock)

test.each(Object.entries(SCENARIOS))('%s', { timeout: 120_000 }, async (_name, scenario) => {
  const { writes, faults } = await runWithFault(scenario)
  expect(faults).toEqual([])
  expect(writes).toBeGreaterThan(1)
  const found: string[] = []
  for (const fault of FAULTS)
    for (let at = 0; at < writes; at++) {
      const run = await runWithFault(scenario, at, fault)
      found.push(...run.faults.map((one) => `write ${at} of ${writes} ${fault}: ${one}`))
    }
  expect(found.join('\n')).toBe('')
})
