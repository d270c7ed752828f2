/** The results as Markdown. */
import { pairedRatio } from '../statistics.ts'
import type { RuntimeTiming } from './measure.ts'
import type { Missing } from './results.ts'

const COLUMNS = [
  ...['runtime', 'case', 'tools', 'era', 'server', 'CPU (fastest round)', 'of the floor', 'of mcp-lite'],
  ...['p50', 'p99', 'per second', 'resident'],
]

export const TABLE_HEAD = `| ${COLUMNS.join(' | ')} |\n|${COLUMNS.map(() => '---').join('|')}|`

/** One line a server, for what was measured side by side. */
export function rowLines(rows: readonly RuntimeTiming[]): readonly string[] {
  return rows.map((row) => {
    const others = rows.filter((other) => other.case === row.case)
    const ratio = (name: string): string => ratioTo(row, others, name)
    const cells = [
      row.runtime,
      row.case,
      row.fieldCount === 4 ? row.toolCount : `${row.toolCount} × ${row.fieldCount} fields`,
      row.era,
      row.server,
      `${row.cpuMicroseconds.toFixed(0)} µs (${row.fastestCpuMicroseconds.toFixed(0)})`,
      ratio('floor'),
      ratio('mcp-lite'),
      `${row.p50Ms.toFixed(2)} ms`,
      `${row.p99Ms.toFixed(2)} ms`,
      row.perSecond.toFixed(0),
      `${(row.residentBytes / 1e6).toFixed(0)} MB`,
    ]
    return `| ${cells.join(' | ')} |`
  })
}

/** In the same era, or in the only one that the other speaks. */
function ratioTo(row: RuntimeTiming, others: readonly RuntimeTiming[], name: string): string {
  const named = others.filter(({ server }) => server === name)
  const other = named.find(({ era }) => era === row.era) ?? named[0]
  return other === undefined ? '–' : pairedRatio(row.samples, other.samples).median.toFixed(2)
}

/** Empty where nothing is missing. */
export function missingTable(missing: readonly Missing[]): string {
  if (missing.length === 0) return ''
  const lines = missing.map(
    ({ runtime, server, case: name = 'all', reason }) => `| ${runtime} | ${server} | ${name} | ${reason} |`,
  )
  return [
    '',
    '| runtime | server | case | it does not run here because |',
    '|---|---|---|---|',
    ...lines,
  ].join('\n')
}
