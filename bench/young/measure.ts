/** What fresh processes of one runtime have cost after their first calls, all contenders of a case in interleaved rounds. */
import { type BenchCase, CASES } from '../runtimes/cases.ts'
import { type Contender, dialectOf, servingOf } from '../runtimes/contenders.ts'
import type { Issuer } from '../runtimes/issuer.ts'
import { cpuMicrosecondsOf } from '../runtimes/load.ts'
import { messageOf } from '../runtimes/measure.ts'
import type { Missing } from '../runtimes/results.ts'
import { type PreparedServer, prepareServer } from '../runtimes/servers.ts'
import type { Runtime } from '../runtimes/subject.ts'
import { FIELD_COUNT } from '../tools.ts'
import { CALLS, type YoungRow } from './results.ts'

/** A call with each number of tools, and one with a token. */
export const YOUNG_CASES: readonly BenchCase[] = CASES.filter(
  ({ name, fixture }) => ['tools/call', 'jwt'].includes(name) && fixture.fieldCount === FIELD_COUNT,
)

/**
 * Deno keeps compiled code of earlier starts: one start, which is not counted, writes it. So it is on a machine, or in an image, where the
 * program has run before; a first start there costs twice as much.
 */
const WITH_CODE_CACHE: ReadonlySet<Runtime> = new Set(['deno'])

export interface YoungOptions {
  readonly runtime: Runtime
  readonly benchCase: BenchCase
  readonly contenders: readonly Contender[]
  /** Fresh processes of each. */
  readonly rounds: number
  readonly issuer: Issuer
  readonly folder: string
}

export interface YoungMeasured {
  readonly rows: readonly YoungRow[]
  readonly missing: readonly Missing[]
  /** What failed without being expected to. */
  readonly failures: readonly Missing[]
}

interface Subject {
  readonly row: YoungRow
  readonly cpuMs: number[][]
  /** Starts a process, calls it, and returns the milliseconds after each of `CALLS`. */
  readonly sample: (calls: readonly number[]) => Promise<readonly number[]>
}

/** A server that does not start, or answers wrongly, has no row and is among the failures. */
export async function measureYoung(options: YoungOptions): Promise<YoungMeasured> {
  const { runtime, benchCase, contenders, rounds } = options
  const missing: Missing[] = []
  const failures: Missing[] = []
  let subjects: readonly Subject[] = []
  const attempt = async (subject: Subject, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      subjects = subjects.filter((one) => one !== subject)
      const { server, case: name } = subject.row
      failures.push({ runtime, server, case: name, reason: messageOf(error) })
    }
  }
  for (const contender of contenders) {
    const subject = await prepare(contender, options)
    if (typeof subject === 'string') missing.push({ runtime, server: contender.name, reason: subject })
    else if (subject !== undefined) subjects = [...subjects, subject]
  }
  for (const subject of WITH_CODE_CACHE.has(runtime) ? subjects : []) {
    await attempt(subject, async () => void (await subject.sample(CALLS.slice(0, 2))))
  }
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      await attempt(subject, async () => {
        for (const [index, ms] of (await subject.sample(CALLS)).entries()) subject.cpuMs[index]!.push(ms)
      })
    }
  }
  return { rows: subjects.map(({ row }) => row), missing, failures: failures.map(withCase(benchCase)) }
}

function withCase({ fixture }: BenchCase): (failure: Missing) => Missing {
  return (failure) => ({ ...failure, case: `${failure.case}, ${fixture.toolCount} tools` })
}

/** The reason where it does not run; undefined where nobody wrote it. */
async function prepare(
  contender: Contender,
  { runtime, benchCase, issuer, folder }: YoungOptions,
): Promise<Subject | string | undefined> {
  const { offer, fixture, eras, name } = benchCase
  const serving = servingOf(contender, runtime, offer)
  if (serving === undefined || typeof serving === 'string') return serving
  const era = eras.find((one) => dialectOf(contender, one) !== undefined)
  const dialect = era === undefined ? undefined : dialectOf(contender, era)
  if (dialect === undefined) return undefined
  const prepared = await prepareServer({
    ...{ runtime, name: `${contender.name} ${offer}`, serving, fixture, folder, keys: issuer.keys },
  })
  const cpuMs = CALLS.map((): number[] => [])
  const row: YoungRow = {
    ...{ runtime, server: contender.name, case: name, toolCount: fixture.toolCount, era: dialect.era, cpuMs },
  }
  const run = (send: Parameters<BenchCase['run']>[0]): Promise<void> =>
    benchCase.run(send, dialect, issuer.token)
  return { row, cpuMs, sample: (calls) => sampleOnce(prepared, run, calls) }
}

/** One call at a time, as the first callers of an isolate come. */
async function sampleOnce(
  prepared: PreparedServer,
  run: (send: Parameters<BenchCase['run']>[0]) => Promise<void>,
  calls: readonly number[],
): Promise<readonly number[]> {
  const server = await prepared.start()
  try {
    const cpuMs: number[] = []
    for (let call = 1; call <= calls.at(-1)!; call++) {
      await run(server.send)
      if (calls.includes(call)) cpuMs.push(Number((cpuMicrosecondsOf(server.pid) / 1000).toFixed(2)))
    }
    return cpuMs
  } finally {
    await server.stop()
  }
}
