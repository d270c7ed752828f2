/** The property of test/property/task-crashes over real stores: many tasks at once, each with processes that die at any of its writes. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { crashThrough, plans } from '../../property/_task-crashes.ts'
import { startDynamoStores, startPostgresStores, startRedisStores } from './_backends.ts'

/** `npm run test:crashes` has 1000. */
const RUNS = Number(process.env.MAYFLY_CRASHES ?? 40)
const SEED = Number(process.env.FAST_CHECK_SEED ?? 20260728)
/** Processes, each with connections of its own. */
const CONNECTIONS = 4

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

it.each([
  ['redis', startRedisStores, 150, 100],
  ['postgres', startPostgresStores, 100, 100],
  ['dynamodb', startDynamoStores, 100, 300],
])(
  `%s: processes die at any write of a ten-step task, ${RUNS} times → each ends, as if nothing had happened [tasks.crashes]`,
  { timeout: 600_000 },
  async (_name, start, atOnce, lookMs) => {
    const { stores, stop } = await start(CONNECTIONS)
    const left = fc.sample(plans, { seed: SEED, numRuns: RUNS })
    let deaths = 0
    const work = async (): Promise<void> => {
      for (let plan = left.pop(); plan !== undefined; plan = left.pop()) {
        const first = left.length
        const scene = {
          connect: (process: number) => stores[(first + process) % stores.length]!,
          wait,
          leaseMs: 1500,
          lookMs,
        }
        const died = await crashThrough(plan, scene)
        deaths += died
      }
    }
    try {
      await Promise.all(Array.from({ length: atOnce }, work))
      expect(deaths).toBeGreaterThan(RUNS / 2)
    } finally {
      await stop()
    }
  },
)
