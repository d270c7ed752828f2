/**
 * `npm run bench:young`: what a fresh process has cost, from its start to its 1st, 100th and 1,000th `tools/call` over HTTP, beside the
 * peers. A serverless isolate answers some dozens of calls and goes: there the interpreter runs, and nothing is compiled yet.
 *
 * `-- workerd,bun` runs some runtimes, `--cases jwt` one case, `--tools 10` one number of tools, `--servers all` or `--servers floor,mayfly`
 * other servers; `--json <file>` writes the results for other programs, `--write` the report in bench/, its budgets and the picture,
 * `--quick` is rough. Linux only: the processor's time of a process is read from /proc.
 *
 * Exits with 0 whatever the numbers are, and with 1 when a server does not answer as it must. Needs `npm run build` before.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installPackages } from '../../scripts/install-package.ts'
import { judgeYoung, shrunkBudgets, type YoungBudgets } from '../budgets.ts'
import { writePictures } from '../pictures/pictures.ts'
import { choose } from '../runtimes/choose.ts'
import { CONTENDERS } from '../runtimes/contenders.ts'
import { FRAMEWORKS } from '../runtimes/entry.ts'
import { createIssuer } from '../runtimes/issuer.ts'
import type { Missing } from '../runtimes/results.ts'
import { RUNTIMES } from '../runtimes/subject.ts'
import { missingTable } from '../runtimes/table.ts'
import { measureYoung, YOUNG_CASES } from './measure.ts'
import { headOf, rowLine, TABLE_HEAD, toYoungReport, verdictTable } from './report.ts'
import { ROUNDS, writeYoung, type YoungRow } from './results.ts'

const BENCH = new URL('../', import.meta.url)
const BUDGETS = new URL('young-budgets.json', BENCH)

const SERVERS = 'floor,mcp-lite,mayfly,SDK v2'
/** On Lambda alone. */
const BUFFERED = SERVERS.replaceAll(/(?=,|$)/g, ' (buffered)')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string' },
    tools: { type: 'string', default: '1,10,100' },
    servers: { type: 'string', default: `${SERVERS},${BUFFERED}` },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
if (positionals.length > 1) {
  throw new TypeError(`"${positionals[1]}" is one word too many: name runtimes with commas and no spaces.`)
}
const runtimes = choose(RUNTIMES, positionals[0], (runtime) => runtime)
const contenders = choose(CONTENDERS, values.servers, ({ name }) => name)
const named = choose(YOUNG_CASES, values.cases, ({ name }) => name)
const sized = choose(YOUNG_CASES, values.tools, ({ fixture }) => String(fixture.toolCount))
const cases = named.filter((one) => sized.includes(one))
if (cases.length === 0)
  throw new TypeError(`No case "${values.cases}" has ${values.tools} tools: "jwt" has 10.`)
const rounds = values.quick ? 3 : ROUNDS

await installPackages([FRAMEWORKS], 'install')
const issuer = await createIssuer()
const folder = mkdtempSync(join(tmpdir(), 'mayfly-young-'))
const rows: YoungRow[] = []
const missing: Missing[] = []
const failures: Missing[] = []
try {
  console.log(headOf(TABLE_HEAD))
  for (const runtime of runtimes) {
    for (const benchCase of cases) {
      const measured = await measureYoung({ runtime, benchCase, contenders, rounds, issuer, folder })
      rows.push(...measured.rows)
      failures.push(...measured.failures)
      for (const one of measured.missing) if (!isKnown(one)) missing.push(one)
      for (const row of measured.rows) console.log(rowLine(row, measured.rows))
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const results = { rows, missing: [...missing, ...failures] }
console.log(missingTable(results.missing))
if (values.json !== undefined) writeYoung(values.json, results)
const budgets = existsSync(BUDGETS) ? (JSON.parse(readFileSync(BUDGETS, 'utf8')) as YoungBudgets) : {}
console.log(`\n${verdictTable(judgeYoung(results, budgets))}`)
if (values.write) write()
if (failures.length > 0) process.exitCode = 1

function write(): void {
  const all = writeYoung(new URL('young.json', BENCH), results)
  const shrunk = shrunkBudgets(all, budgets)
  writeFileSync(BUDGETS, `${JSON.stringify(shrunk, null, 2)}\n`)
  writeFileSync(new URL('YOUNG.md', BENCH), toYoungReport(all, shrunk))
  writePictures()
}

/** Servers that are missing on a runtime are so in each case. */
function isKnown({ runtime, server }: Missing): boolean {
  return missing.some((known) => known.runtime === runtime && known.server === server)
}
