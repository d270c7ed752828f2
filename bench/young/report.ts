/** What `npm run bench:young -- --write` leaves in the repository: the results as JSON, a report of them, and the picture. */
import { judgeYoung, type Verdict, type YoungBudgets } from '../budgets.ts'
import { written } from '../pictures/figure.ts'
import { RUNTIMES } from '../runtimes/subject.ts'
import { missingTable } from '../runtimes/table.ts'
import {
  CALLS,
  caseOf,
  isRough,
  type Measurements,
  mediansOf,
  PEERS,
  quartilesOf,
  ratiosTo,
  rowsOf,
  type YoungRow,
} from './results.ts'

const HEAD = `# Young processes

Written by \`npm run bench:young -- --write\`: what a fresh process has cost from its start to its 1st, 100th and 1,000th \`tools/call\` over
HTTP, one call at a time, each answer checked. CPU is the processor's time of all threads of the process, in milliseconds: medians of the
rounds, in brackets the quartiles. Ratios are medians of what each round measured. Host and server are in one minified bundle, except for
edge-runtime, whose host is its package. On Lambda the process is that of AWS's runtime interface client. All stream there, as a
Function URL with response streaming does; "(buffered)" ones do not, and are compared with one another. Deno keeps compiled code of
earlier starts: a start before writes it, as on a machine where the program has run. Absolute figures are this machine's.
`

const ROUGH = `
**Figures of fewer than five rounds are rough**: \`--quick\` measured them, on a busy machine.
`

export const TABLE_HEAD = [
  ...['runtime', 'case', 'server', ...CALLS.map((call) => `to call ${call}`)],
  ...PEERS.map((peer) => `of ${peer}`),
]

/** All of it follows from what was recorded. */
export function toYoungReport(file: Measurements, budgets: YoungBudgets): string {
  const lines = RUNTIMES.flatMap((runtime) => {
    const rows = rowsOf(file, runtime)
    return rows.map((row) => rowLine(row, rows))
  })
  return [
    HEAD,
    ...(file.rows.some(isRough) ? [ROUGH] : []),
    headOf(TABLE_HEAD),
    ...lines,
    missingTable(file.missing),
    '',
    '## Budgets',
    '',
    'Mayfly’s cost as a multiple of each peer’s, at the 1st, 100th and 1,000th call. Budgets are what was reached and 5 % more, and only shrink.',
    '',
    verdictTable(judgeYoung(file, budgets)),
    '',
  ].join('\n')
}

export function headOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n|${cells.map(() => '---').join('|')}|`
}

/** `rows` are those that it was measured beside. */
export function rowLine(row: YoungRow, rows: readonly YoungRow[]): string {
  const medians = mediansOf(row)
  const ranges = quartilesOf(row)
  const cells = [
    ...[row.runtime, caseOf(row), row.server],
    ...medians.map((ms, index) => `${written(ms)} (${ranges[index]!.map(written).join(' to ')})`),
    ...PEERS.map(
      (peer) =>
        ratiosTo(peer, row, rows)
          ?.map((ratio) => ratio.toFixed(2))
          .join(' / ') ?? '–',
    ),
  ]
  return `| ${cells.join(' | ')} |`
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(
    ({ what, budget, measured, isMet }) =>
      `| ${what} | ${budget} | ${measured} | ${isMet ? 'pass' : '**FAIL**'} |`,
  )
  return [headOf(['what', 'budget', 'measured', 'verdict']), ...lines].join('\n')
}
