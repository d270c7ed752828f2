/** What `npm run bench:runtimes -- --write` leaves in the repository: the table, the results as JSON, and a plot of the documentation. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { barPlot } from '../plot.ts'
import { ROOT } from './entry.ts'
import type { RuntimeTiming } from './measure.ts'
import { type Missing, writeResults } from './results.ts'
import { missingTable, rowLines, TABLE_HEAD } from './table.ts'

const HEAD = `# Benchmark over HTTP

Written by \`npm run bench:runtimes -- --write\`: a \`tools/call\` on the real runtimes, 10 tools, over loopback, all servers of a runtime
side by side in interleaved rounds, each answer checked, after 16 000 calls to warm up: bun compiles for 12 000 of them. CPU is the
processor's time of all threads of the server's process, for one call; ratios are medians of what each round measured. Absolute figures
are this machine's.
`

export function writeReport(rows: readonly RuntimeTiming[], missing: readonly Missing[]): void {
  const runtimes = [...new Set(rows.map(({ runtime }) => runtime))]
  const lines = runtimes.flatMap((runtime) => rowLines(rows.filter((row) => row.runtime === runtime)))
  writeFileSync(
    join(ROOT, 'bench/RUNTIMES.md'),
    [HEAD, TABLE_HEAD, ...lines, missingTable(missing), ''].join('\n'),
  )
  writeResults(join(ROOT, 'bench/runtimes.json'), {
    rows: rows.map(({ samples: _, ...row }) => row),
    missing,
  })
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true })
  writeFileSync(join(ROOT, 'docs/images/workerd.svg'), workerdPlot(rows))
}

function workerdPlot(rows: readonly RuntimeTiming[]): string {
  const bars = rows
    .filter(({ runtime }) => runtime === 'workerd')
    .map(({ server, cpuMicroseconds }) => ({
      label: server,
      value: cpuMicroseconds,
      isOurs: server.startsWith('mayfly'),
    }))
    .sort((one, other) => one.value - other.value)
  return barPlot(
    'CPU time of one tools/call on workerd',
    'µs',
    '10 tools, over HTTP on loopback, without wrangler in front; medians, each in the newest revision that it speaks.',
    bars,
  )
}
