/** `bench/young.json`: what `npm run bench:young` measured. The report, the picture and the verdicts are made of it alone. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Era } from '../requests.ts'
import { type Machine, type Missing, thisMachine, versions } from '../runtimes/results.ts'
import type { Runtime } from '../runtimes/subject.ts'
import { pairedRatio, quartiles, spread } from '../statistics.ts'

/** After which calls the processor's time of a process is read. */
export const CALLS = [1, 100, 1000] as const

/** Fresh processes of each server. */
export const ROUNDS = 5

export interface YoungFile {
  readonly machine: Machine
  readonly versions: { readonly [name: string]: string }
  readonly rows: readonly YoungRow[]
  readonly missing: readonly Missing[]
}

export type Measurements = Pick<YoungFile, 'rows' | 'missing'>

/** One case on one server. */
export interface YoungRow {
  readonly runtime: Runtime
  readonly server: string
  /** `tools/call`, or `jwt`: the same with a token. */
  readonly case: string
  readonly toolCount: number
  readonly era: Era
  /** For each of `CALLS`: milliseconds of the processor's time, of all threads of the process since its start; one a fresh process. */
  readonly cpuMs: readonly (readonly number[])[]
}

/** Those who are compared with. */
export const PEERS = ['mcp-lite', 'SDK v2'] as const
export type PeerName = (typeof PEERS)[number]

/** In the order in which they are measured, which is that of the report. */
export function rowsOf(file: Measurements, runtime: Runtime): readonly YoungRow[] {
  return file.rows.filter((row) => row.runtime === runtime)
}

/** `10 tools`, or with `jwt`: `10 tools, JWT`. */
export function caseOf({ case: name, toolCount }: Pick<YoungRow, 'case' | 'toolCount'>): string {
  return `${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}${name === 'jwt' ? ', JWT' : ''}`
}

/** Measured by `--quick`. */
export function isRough({ cpuMs }: YoungRow): boolean {
  return cpuMs[0]!.length < ROUNDS
}

export function mediansOf({ cpuMs }: YoungRow): readonly number[] {
  return cpuMs.map((samples) => spread(samples).median)
}

export function quartilesOf({ cpuMs }: YoungRow): readonly (readonly [number, number])[] {
  return cpuMs.map(quartiles)
}

/** On Lambda: what does not stream is compared with what does not. */
const BUFFERED = ' (buffered)'

/** For each of `CALLS`, of the peer's cost in the same case. Undefined where the peer has none. */
export function ratiosTo(
  peer: string,
  row: YoungRow,
  rows: readonly YoungRow[],
): readonly number[] | undefined {
  const name = row.server.endsWith(BUFFERED) ? `${peer}${BUFFERED}` : peer
  const other = rows.find(
    ({ runtime, server, ...one }) =>
      runtime === row.runtime && server === name && one.case === row.case && one.toolCount === row.toolCount,
  )
  return other && row.cpuMs.map((samples, index) => pairedRatio(samples, other.cpuMs[index]!).median)
}

export function readYoung(file: URL | string): YoungFile {
  return JSON.parse(readFileSync(file, 'utf8')) as YoungFile
}

/** Writes what was measured, and returns all. What an earlier run measured in other cases, or on other runtimes, stays. */
export function writeYoung(file: URL | string, { rows, missing }: Measurements): YoungFile {
  const before = existsSync(file) ? readYoung(file) : undefined
  const groupOf = (row: YoungRow): string => `${row.runtime} ${caseOf(row)}`
  const measured = new Set(rows.map(groupOf))
  const runtimes = new Set<string>([...rows, ...missing].map(({ runtime }) => runtime))
  const earlier = (before?.rows ?? []).filter((row) => !measured.has(groupOf(row)))
  const all: YoungFile = {
    machine: thisMachine(),
    versions: versions(),
    rows: [...earlier, ...rows],
    missing: [...(before?.missing ?? []).filter(({ runtime }) => !runtimes.has(runtime)), ...missing],
  }
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
  return all
}
