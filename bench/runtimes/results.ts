/** What the benchmark writes with `--json`, for the pictures, and for whoever computes a bill from it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { declaredVersions } from '../../scripts/install-package.ts'
import type { Era } from '../requests.ts'
import { FRAMEWORKS, ROOT } from './entry.ts'
import { LAMBDA_CLIENT } from './lambda.ts'
import type { Runtime } from './subject.ts'

export interface ResultsFile {
  readonly machine: Machine
  /** Of the runtimes and of the servers' packages, by name. */
  readonly versions: { readonly [name: string]: string }
  /** Written by `npm run bench:runtimes`. */
  readonly rows: readonly RuntimeRow[]
  /** Written by `npm run bench:cold`. */
  readonly cold: readonly ColdRow[]
  /** What was not measured, and why. */
  readonly missing: readonly Missing[]
}

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
}

/** One case on one server. All are medians over the rounds, unless they say otherwise. */
export interface RuntimeRow {
  readonly runtime: Runtime
  readonly server: string
  /**
   * `tools/call`, `tools/list`, `resources/read`, `prompts/get`, `progress` (a call that reports progress), `resume` (a call that asks, and
   * its retry), `jwt` (a call with a token), `4 KB` and `1 MB` (a call with arguments of that size).
   */
  readonly case: string
  readonly toolCount: number
  /** Of the input of each tool. */
  readonly fieldCount: number
  readonly era: Era
  /** Of the processor's time, of all threads of the server's process, for one run of the case. */
  readonly cpuMicroseconds: number
  /** The same in the fastest round. */
  readonly fastestCpuMicroseconds: number
  /** Half of the rounds were between these. Not recorded before November 2026. */
  readonly cpuQuartiles?: readonly [number, number]
  /** Milliseconds of one run of the case as its client sees it, with four at a time; one at a time on `lambda`. Over all rounds. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Runs of the case in a second, by as many clients. */
  readonly perSecond: number
  /** Of the server's process, after the case. */
  readonly residentBytes: number
}

/** The first answered `tools/call` of a fresh start; medians. */
export interface ColdRow {
  /**
   * `node`: a fresh process, from the `import` of the server. `vm`: a fresh context in a warm process, from its script. `workerd`: a fresh
   * workerd, from the start of its process.
   */
  readonly runtime: ColdRuntime
  readonly server: string
  readonly toolCount: number
  readonly firstAnswerMs: number
  /** Of the processor's time until then, of all threads: it survives a busy machine. */
  readonly cpuMs: number
}

export type ColdRuntime = 'node' | 'vm' | 'workerd'

export interface Missing {
  readonly runtime: string
  readonly server: string
  /** All of them unless it is named. */
  readonly case?: string
  readonly reason: string
}

/** Writes what was measured. What an earlier run measured on other runtimes stays. */
export function writeResults(
  file: string,
  { rows = [], cold = [], missing = [] }: Partial<Pick<ResultsFile, 'rows' | 'cold' | 'missing'>>,
): void {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ResultsFile) : undefined
  const measured = new Set<string>([...rows, ...missing].map(({ runtime }) => runtime))
  const measuredCold = new Set<string>(cold.map(({ runtime }) => runtime))
  const results: ResultsFile = {
    machine: thisMachine(),
    versions: versions(),
    rows: [...(before?.rows ?? []).filter(({ runtime }) => !measured.has(runtime)), ...rows],
    cold: [...(before?.cold ?? []).filter(({ runtime }) => !measuredCold.has(runtime)), ...cold],
    missing: [...(before?.missing ?? []).filter(({ runtime }) => !measured.has(runtime)), ...missing],
  }
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
}

export function thisMachine(): Machine {
  return { cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, memoryBytes: totalmem() }
}

/** Which packages of the repository count. */
const PACKAGES = [
  ...['deno', 'bun', 'workerd', 'edge-runtime', 'mcp-lite', 'zod'],
  ...['@modelcontextprotocol/server', '@modelcontextprotocol/sdk'],
]

/** Of the runtimes and of the servers' packages, by name. */
export function versions(): Record<string, string> {
  const own = PACKAGES.map((name) => [name, versionIn(join(ROOT, 'node_modules', name))] as const)
  const client = versionIn(join(LAMBDA_CLIENT, 'node_modules/aws-lambda-ric'))
  const all = {
    ...declaredVersions(FRAMEWORKS),
    ...Object.fromEntries(own),
    ...{ node: process.versions.node, mayfly: versionIn(ROOT), 'aws-lambda-ric': client },
  }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]))
}

function versionIn(folder: string): string | undefined {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
