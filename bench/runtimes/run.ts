/**
 * `npm run bench:runtimes`: what a `tools/call` costs on the real runtimes, beside the peers, printed as a table.
 *
 * `-- workerd,bun` runs some of them, `--cases all` or `--cases tools/list,jwt` other cases in both eras, `--servers floor,mayfly` some
 * servers; `--json <file>` writes the results for other programs, `--write` the report in bench/ and the pictures, `--quick` is rough. Linux only: the processor's time of a process is read
 * from /proc.
 *
 * Exits with 0 whatever the numbers are, and with 1 when a server does not answer as it must. Needs `npm run build` before.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installPackages } from '../../scripts/install-package.ts'
import { type BenchCase, CASES, DEFAULT_CASE } from './cases.ts'
import { choose } from './choose.ts'
import { CONTENDERS } from './contenders.ts'
import { FRAMEWORKS } from './entry.ts'
import { createIssuer } from './issuer.ts'
import { type Measured, measureRuntime, type RuntimeTiming } from './measure.ts'
import { writeReport } from './report.ts'
import type { Missing } from './results.ts'
import { writeResults } from './results.ts'
import { RUNTIMES, type Runtime } from './subject.ts'
import { missingTable, rowLines, TABLE_HEAD } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string' },
    servers: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const chosen = choose(RUNTIMES, positionals[0], (runtime) => runtime)
const contenders = choose(CONTENDERS, values.servers, ({ name }) => name)
const cases = values.cases === undefined ? [DEFAULT_CASE] : choose(CASES, values.cases, ({ name }) => name)
const settings = values.quick
  ? { rounds: 5, requests: 200, warmUp: 800, warmUpAgain: 200 }
  : { rounds: 21, requests: 400, warmUp: 16_000, warmUpAgain: 1000 }

await installPackages([FRAMEWORKS], 'install')
const issuer = await createIssuer()
const folder = mkdtempSync(join(tmpdir(), 'mayfly-bench-'))
const rows: RuntimeTiming[] = []
const missing: Missing[] = []
const failures: Missing[] = []
try {
  console.log(TABLE_HEAD)
  for (const runtime of chosen) for (const group of groups(cases)) await measure(runtime, group)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(missingTable([...missing, ...failures]))
if (values.json !== undefined) {
  const plain = rows.map(({ samples: _, ...row }) => row)
  writeResults(values.json, { rows: plain, missing: [...missing, ...failures] })
}
if (values.write) writeReport(rows, [...missing, ...failures])
if (failures.length > 0) process.exitCode = 1

async function measure(runtime: Runtime, group: readonly BenchCase[]): Promise<void> {
  const eras = values.cases === undefined ? 'first' : 'all'
  const measured: Measured = await measureRuntime({
    ...{ runtime, contenders, cases: group, eras, settings, issuer, folder },
  })
  rows.push(...measured.rows)
  failures.push(...measured.failures)
  for (const one of measured.missing) if (!isKnown(one)) missing.push(one)
  for (const line of rowLines(measured.rows)) console.log(line)
}

/** Servers that are missing on a runtime are so in each group of cases. */
function isKnown({ runtime, server }: Missing): boolean {
  return missing.some((known) => known.runtime === runtime && known.server === server)
}

/** The cases that one server answers, together. */
function groups(all: readonly BenchCase[]): readonly (readonly BenchCase[])[] {
  const byServer = new Map<string, BenchCase[]>()
  for (const one of all) {
    const key = `${one.offer} ${one.fixture.toolCount} ${one.fixture.fieldCount}`
    byServer.set(key, [...(byServer.get(key) ?? []), one])
  }
  return [...byServer.values()]
}
