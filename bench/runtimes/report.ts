/** What `npm run bench:runtimes -- --write` leaves in the repository: the table, the results as JSON, and the pictures of the documentation. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePictures } from '../pictures/pictures.ts'
import { ROOT } from './entry.ts'
import type { RuntimeTiming } from './measure.ts'
import { type Missing, type ResultsFile, writeResults } from './results.ts'
import { RUNTIMES } from './subject.ts'
import { missingTable, rowLines, TABLE_HEAD } from './table.ts'

const HEAD = `# Benchmark over HTTP

Written by \`npm run bench:runtimes -- --write\`: a \`tools/call\` on the real runtimes, 10 tools, over loopback, all servers of a runtime
side by side in interleaved rounds, each answer checked, after 16 000 calls to warm up: bun compiles for 12 000 of them. CPU is the
processor's time of all threads of the server's process, for one call; ratios are medians of what each round measured. Absolute figures
are this machine's.
`

/** What an earlier run measured on other runtimes stays. */
export function writeReport(rows: readonly RuntimeTiming[], missing: readonly Missing[]): void {
  const file = join(ROOT, 'bench/RUNTIMES.md')
  const json = join(ROOT, 'bench/runtimes.json')
  writeResults(json, { rows: rows.map(({ samples: _, ...row }) => row), missing })
  const { missing: all } = JSON.parse(readFileSync(json, 'utf8')) as ResultsFile
  const earlier = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const lines = RUNTIMES.flatMap((runtime) => {
    const measured = rows.filter((row) => row.runtime === runtime)
    if (measured.length > 0) return rowLines(measured)
    // A row has more cells than a line that says why one is missing.
    return earlier.filter((line) => line.startsWith(`| ${runtime} |`) && line.split('|').length > 8)
  })
  writeFileSync(file, [HEAD, TABLE_HEAD, ...lines, missingTable(all), ''].join('\n'))
  writePictures()
}
