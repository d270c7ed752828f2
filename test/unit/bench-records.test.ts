/** What the benchmarks leave in the repository, beside what was measured before. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { WorkerId } from '../../bench/bundle.ts'
import { withColdStarts } from '../../bench/cold-starts-alone.ts'
import { quartiles } from '../../bench/statistics.ts'

const REPORT = readFileSync(new URL('../../bench/RESULTS.md', import.meta.url), 'utf8')

test('half of the samples are between their quartiles', () => {
  const samples = [9, 1, 5, 3, 11, 7, 2, 8, 4, 10, 6, 12]

  expect(quartiles(samples)).toEqual([3, 9])
})

test('cold starts that are measured alone replace their section and budgets, and nothing else', () => {
  const report = withColdStarts(REPORT, starts, 3)

  const lines = (text: string): readonly string[] => text.split('\n')
  const added = lines(report).filter((line) => !lines(REPORT).includes(line))
  const sectionOf = (text: string): string =>
    text.match(/## Cold start of that worker\n[\s\S]*?(?=\n## )/)![0]
  expect(added.filter((line) => !sectionOf(report).includes(line))).toEqual([
    '| cold start, of SDK v2                              | ≤ 0.3×                     | 0.20×      | 0.20×          | pass     |',
    '| cold start, of mcp-lite                            | ≤ 1.3×                     | 2.00×      | 2.00×          | **FAIL** |',
  ])
  expect(sectionOf(report)).toMatch(
    /\| mayfly, zod +\| 10\.0 \(8\.0\) +\| 20\.0 \(16\.0\) +\| 16\.0 to 24\.0 +\| 0\.20× +\|/,
  )
  expect(lines(report).length - lines(sectionOf(report)).length).toBe(
    lines(REPORT).length - lines(sectionOf(REPORT)).length,
  )
})

/** Of 10, 20 and 100 ms, a fifth less, and a fifth more. */
const starts = (
  [
    ['mayfly-json-schema', 'mayfly, JSON Schema', 10],
    ['mayfly-zod', 'mayfly, zod', 20],
    ['sdk-v2', 'SDK v2, zod', 100],
    ['mcp-lite', 'mcp-lite, zod', 10],
  ] satisfies [WorkerId, string, number][]
).map(([id, name, total]) => ({
  bundle: {
    ...{ id, name, path: '', minifiedBytes: 0, gzippedBytes: 0, builtins: [], parts: [] },
    dialect: { era: 'modern' as const } as never,
  },
  importMs: [0.5, 0.4, 0.6].map((share) => share * total),
  totalMs: [1, 0.8, 1.2].map((share) => share * total),
}))
