/**
 * Every write of every scenario, with every fault, over real stores: those of test/property/task-faults, on machines whose clocks differ by
 * two hours. The clock of the runs stands still while a store answers, so that a lease ends when it is over, and not when a machine is busy.
 */
import { expect, it } from 'vitest'
// While a part loads the clock of the runs would go on: the first run would be another one.
import '../../_parts.ts'
import { startClock, stopClock } from '../../property/_clock.ts'
import { SCENARIOS } from '../../property/_decisions.ts'
import { runWithEveryFault } from '../../property/_every-fault.ts'
import { startDynamoStores, startObjectStores, startPostgresStores, startRedisStores } from './_backends.ts'

const HOUR_MS = 3_600_000
/** The client's, and three that run tasks. */
const PROCESSES = 4

it.each([
  ['redis', startRedisStores, false],
  ['postgres', startPostgresStores, false],
  ['dynamodb', startDynamoStores, true],
  ['durable-object', startObjectStores, true],
])(
  '%s: every write is rejected, lost, late, slow or repeated, or its process dies or stands still → each task ends as its inputs allow',
  async (_name, start, isTold) => {
    const { stores, stop } = await start(PROCESSES)
    const surroundings = () => ({
      connect: (process: number) => stores[process]!,
      isTold,
      skewsMs: [HOUR_MS, -HOUR_MS, 0],
    })
    try {
      startClock()
      const { found, runs } = await runWithEveryFault(SCENARIOS, surroundings)
      expect(found).toEqual([])
      expect(runs).toBeGreaterThan(500)
    } finally {
      stopClock()
      await stop()
    }
  },
  // Hundreds of runs: 50 s alone, and six times that beside other suites.
  900_000,
)
