/** The benchmark of young processes on the real runtimes: each round is a fresh process, and each call is counted. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { CONTENDERS } from '../../../bench/runtimes/contenders.ts'
import { createIssuer } from '../../../bench/runtimes/issuer.ts'
import { RUNTIMES } from '../../../bench/runtimes/subject.ts'
import { measureYoung, YOUNG_CASES } from '../../../bench/young/measure.ts'

const folder = await mkdtemp(join(tmpdir(), 'mayfly-young-test-'))
afterAll(() => rm(folder, { recursive: true }))

it.each(RUNTIMES)('%s: a call with a token, in two fresh processes', async (runtime) => {
  const measured = await measureYoung({
    ...{ runtime, folder, rounds: 2, issuer: await createIssuer() },
    benchCase: YOUNG_CASES.find(({ name }) => name === 'jwt')!,
    contenders: CONTENDERS.filter(({ name }) => ['floor', 'mcp-lite', 'mayfly'].includes(name)),
  })

  expect({ ...measured, rows: measured.rows.map(({ server }) => server) }).toEqual({
    ...{ rows: ['floor', 'mayfly'], missing: [], failures: [] },
  })
  for (const { cpuMs } of measured.rows) {
    const [first, hundredth, thousandth] = cpuMs
    for (const round of [0, 1]) {
      const [one, some, many] = [first![round]!, hundredth![round]!, thousandth![round]!]
      expect([one > 1, some > one, many > some]).toEqual([true, true, true])
    }
    // A process that was not fresh would have paid for its thousand calls already.
    expect(first![1]!).toBeLessThan(thousandth![0]!)
  }
})
