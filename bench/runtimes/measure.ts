/**
 * What a case costs over HTTP on the real runtimes: all contenders of a runtime side by side, in short interleaved rounds, each answer
 * checked.
 */
import type { Dialect, Era } from '../requests.ts'
import { percentile, quartiles, spread } from '../statistics.ts'
import type { BenchCase } from './cases.ts'
import { type Contender, dialectOf, servingOf } from './contenders.ts'
import type { Issuer } from './issuer.ts'
import { cpuMicrosecondsOf, residentBytesOf, runLoad } from './load.ts'
import type { Missing, RuntimeRow } from './results.ts'
import { type RunningServer, startServer } from './servers.ts'
import type { Runtime } from './subject.ts'

export interface RuntimeSettings {
  readonly rounds: number
  /** Runs of one case on one server in one round. */
  readonly requests: number
  /** Runs before the first case of a server is measured. bun, the slowest, compiles until about the twelve thousandth call. */
  readonly warmUp: number
  /** Runs before each later case of the same server. */
  readonly warmUpAgain: number
}

export interface Measured {
  readonly rows: readonly RuntimeTiming[]
  readonly missing: readonly Missing[]
  /** What failed without being expected to. */
  readonly failures: readonly Missing[]
}

export interface RuntimeTiming extends RuntimeRow {
  /** Microseconds of the processor's time per run, one sample a round. */
  readonly samples: readonly number[]
}

export interface MeasureOptions {
  readonly runtime: Runtime
  readonly contenders: readonly Contender[]
  /** All of one offer and one fixture: one server answers them. */
  readonly cases: readonly BenchCase[]
  /** Only the first era that a contender speaks, or each. */
  readonly eras: 'first' | 'all'
  readonly settings: RuntimeSettings
  readonly issuer: Issuer
  readonly folder: string
}

interface Running {
  readonly contender: Contender
  readonly server: RunningServer
}

interface Subject extends Running {
  readonly dialect: Dialect
  readonly run: () => Promise<void>
  readonly samples: number[]
  readonly perSecond: number[]
  readonly latenciesMs: number[]
}

/** A server that answers wrongly, before or while it is timed, has no row for that case and is among the failures. */
export async function measureRuntime(options: MeasureOptions): Promise<Measured> {
  const { cases, eras } = options
  const missing: Missing[] = []
  const failures: Missing[] = []
  const running: Running[] = []
  const rows: RuntimeTiming[] = []
  const warm = new Set<RunningServer>()
  try {
    for (const contender of options.contenders) {
      const server = await start(contender, options, missing, failures)
      if (server !== undefined) running.push({ contender, server })
    }
    for (const benchCase of cases) {
      for (const era of eras === 'all' ? benchCase.eras : [undefined]) {
        const subjects = await prepare(running, benchCase, era, options, failures)
        rows.push(...(await measureCase(subjects, benchCase, options, warm, failures)))
      }
    }
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()))
  }
  return { rows, missing, failures }
}

async function start(
  contender: Contender,
  { runtime, cases, issuer, folder }: MeasureOptions,
  missing: Missing[],
  failures: Missing[],
): Promise<RunningServer | undefined> {
  const { offer, fixture } = cases[0]!
  const { name } = contender
  const serving = servingOf(contender, runtime, offer)
  if (serving === undefined) return undefined
  if (typeof serving === 'string') {
    missing.push({ runtime, server: name, reason: serving })
    return undefined
  }
  try {
    return await startServer({
      ...{ runtime, name: `${name} ${offer}`, serving, fixture, folder },
      keys: issuer.keys,
    })
  } catch (error) {
    failures.push({ runtime, server: name, reason: `it does not start: ${messageOf(error)}` })
    return undefined
  }
}

/** Those that speak the era and answer the case rightly. */
async function prepare(
  running: readonly Running[],
  benchCase: BenchCase,
  wantedEra: Era | undefined,
  { runtime, issuer }: MeasureOptions,
  failures: Missing[],
): Promise<readonly Subject[]> {
  const subjects: Subject[] = []
  for (const { contender, server } of running) {
    const era = wantedEra ?? benchCase.eras.find((one) => dialectOf(contender, one) !== undefined)
    const dialect = era === undefined ? undefined : dialectOf(contender, era)
    if (dialect === undefined) continue
    const run = (): Promise<void> => benchCase.run(server.send, dialect, issuer.token)
    try {
      await run()
      subjects.push({ contender, server, dialect, run, samples: [], perSecond: [], latenciesMs: [] })
    } catch (error) {
      failures.push({ runtime, server: contender.name, case: benchCase.name, reason: messageOf(error) })
    }
  }
  return subjects
}

async function measureCase(
  subjects: readonly Subject[],
  benchCase: BenchCase,
  { runtime, settings: { rounds, requests, warmUp, warmUpAgain } }: MeasureOptions,
  warm: Set<RunningServer>,
  failures: Missing[],
): Promise<readonly RuntimeTiming[]> {
  const count = Math.max(5, Math.round(requests * benchCase.share))
  const failed = new Set<Subject>()
  const attempt = async (subject: Subject, work: () => Promise<void>): Promise<void> => {
    if (failed.has(subject)) return
    try {
      await work()
    } catch (error) {
      failed.add(subject)
      const { name } = subject.contender
      failures.push({ runtime, server: name, case: benchCase.name, reason: messageOf(error) })
    }
  }
  for (const subject of subjects) {
    const { run, server } = subject
    const runs = (warm.has(server) ? warmUpAgain : warmUp) * benchCase.share
    await attempt(subject, async () => {
      await runLoad(run, Math.ceil(runs), server.atOnce)
    })
    warm.add(server)
  }
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) await attempt(subject, () => sampleOnce(subject, count))
  }
  return subjects.filter((one) => !failed.has(one)).map((subject) => toRow(subject, benchCase, runtime))
}

async function sampleOnce(subject: Subject, count: number): Promise<void> {
  const { run, server, samples, perSecond, latenciesMs } = subject
  const before = cpuMicrosecondsOf(server.pid)
  const load = await runLoad(run, count, server.atOnce)
  samples.push((cpuMicrosecondsOf(server.pid) - before) / count)
  perSecond.push((count / load.elapsedMs) * 1000)
  latenciesMs.push(...load.latenciesMs)
}

function toRow(
  { contender, server, dialect, samples, perSecond, latenciesMs }: Subject,
  { name, fixture }: BenchCase,
  runtime: Runtime,
): RuntimeTiming {
  const cpu = spread(samples)
  return {
    runtime,
    server: contender.name,
    case: name,
    ...fixture,
    era: dialect.era,
    cpuMicroseconds: cpu.median,
    fastestCpuMicroseconds: cpu.min,
    cpuQuartiles: quartiles(samples),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    perSecond: spread(perSecond).median,
    residentBytes: residentBytesOf(server.pid),
    samples,
  }
}

/** On one line. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
}
