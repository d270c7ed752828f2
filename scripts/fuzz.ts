/**
 * Fuzzes what reads hostile input: `npm run fuzz -- [--seconds 600] [--seed 1] [--target name]`.
 *
 * Inputs are made by a grammar or by changing those of the corpus; an input that reaches new code joins the corpus. The
 * corpus is kept in `test/fuzz/corpus`, where a test replays it; an input that breaks a promise is minimised and written to
 * `test/fuzz/crashes`, and the exit code is 1.
 */
import { parseArgs } from 'node:util'
import { readCorpus, writeCorpus, writeCrash } from './fuzz/corpus.ts'
import { type Coverage, startCoverage } from './fuzz/coverage.ts'
import { tryOut } from './fuzz/execute.ts'
import { kindOf, minimise } from './fuzz/minimise.ts'
import { createRandom, type Random } from './fuzz/random.ts'
import type { Input, Target } from './fuzz/target.ts'

/** Inputs between two reads of the coverage: reading takes longer than most inputs. */
const BATCH = 256

/** The same for targets that wait for time limits, so that a batch takes seconds. */
const SLOW_BATCH: { readonly [target: string]: number } = { client: 16, crowd: 32 }

/** Milliseconds between two lines of progress. */
const REPORT_MS = 10_000

/** Whole requests reach the most. */
const WEIGHT: { readonly [target: string]: number } = { request: 8, 'public-url': 2, bearer: 1 }

interface Fuzzing {
  readonly coverage: Coverage
  readonly random: Random
  readonly corpus: Map<Target, Input[]>
  readonly findings: Set<string>
  /** By target and in words. */
  readonly outcomes: Set<string>
  executions: number
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
  },
})

const coverage = await startCoverage()
const { TARGETS } = await import('./fuzz/targets.ts')
const targets = TARGETS.filter(({ name }) => values.target === undefined || values.target === name)
if (targets.length === 0)
  throw new TypeError(`--target must be one of ${TARGETS.map(({ name }) => name).join(', ')}.`)
const fuzzing: Fuzzing = {
  coverage,
  random: createRandom(Number(values.seed)),
  corpus: new Map(),
  findings: new Set(),
  outcomes: new Set(),
  executions: 0,
}
// Servers write their faults to the console; here faults are expected.
console.error = () => {}
// The official client writes warnings about servers there.
console.warn = () => {}
console.debug = () => {}
process.on('unhandledRejection', (error) => {
  process.stderr.write(`fuzz: an unhandled rejection: ${error instanceof Error ? error.stack : error}\n`)
  fuzzing.findings.add('unhandledRejection')
})
await fuzz(fuzzing, targets, Number(values.seconds) * 1000)
process.stderr.write(`fuzz: ended, ${describe(fuzzing)}\n`)
for (const target of targets) writeCorpus(target, await distil(fuzzing, target))
process.exit(fuzzing.findings.size > 0 ? 1 : 0)

async function fuzz(state: Fuzzing, targets: readonly Target[], forMs: number): Promise<void> {
  const startedAt = Date.now()
  for (const target of targets) {
    const { kept, regressions } = readCorpus(target)
    state.corpus.set(target, [])
    for (const input of [...target.seeds, ...regressions, ...kept]) await consider(state, target, input)
  }
  const weighted = targets.flatMap((target) => Array.from({ length: WEIGHT[target.name] ?? 1 }, () => target))
  let reportedAt = startedAt
  while (Date.now() - startedAt < forMs) {
    await runBatch(state, state.random.pick(weighted))
    if (Date.now() - reportedAt < REPORT_MS) continue
    reportedAt = Date.now()
    process.stderr.write(`fuzz: ${Math.round((reportedAt - startedAt) / 1000)} s, ${describe(state)}\n`)
  }
}

function describe({ executions, coverage, corpus, findings, outcomes }: Fuzzing): string {
  const size = [...corpus.values()].reduce((sum, { length }) => sum + length, 0)
  return `${executions} executions, ${coverage.blocks()} blocks covered, ${outcomes.size} outcomes, ${size} inputs in the corpus, ${findings.size} findings`
}

async function runBatch(state: Fuzzing, target: Target): Promise<void> {
  const { random, corpus } = state
  const known = corpus.get(target)!
  const inputs = Array.from({ length: SLOW_BATCH[target.name] ?? BATCH }, () =>
    random.chance(0.1)
      ? target.generate(random)
      : target.mutate(random.pick(known), random.pick(known), random),
  )
  await keepNew(state, target, inputs)
}

/** Finds which of `inputs` reach something new, by halves. */
async function keepNew(state: Fuzzing, target: Target, inputs: readonly Input[]): Promise<void> {
  if (inputs.length === 1) return consider(state, target, inputs[0]!)
  for (const input of inputs) await run(state, target, input)
  // New coverage is not added yet: one input must first show that it reaches it.
  if (!(await state.coverage.hasNew())) return
  const middle = inputs.length >> 1
  await keepNew(state, target, inputs.slice(0, middle))
  await keepNew(state, target, inputs.slice(middle))
}

/** Keeps an input that reaches something new. */
async function consider(state: Fuzzing, target: Target, input: Input): Promise<void> {
  await run(state, target, input)
  if (await state.coverage.take()) state.corpus.get(target)!.push(input)
}

/** Returns whether the outcome is new; if so, the input is kept. */
async function run(state: Fuzzing, target: Target, input: Input): Promise<boolean> {
  state.executions++
  const outcome = await tryOut(target, input)
  if (outcome instanceof Error) {
    await report(state, target, input, outcome)
    return false
  }
  const known = `${target.name} ${outcome}`
  if (state.outcomes.has(known)) return false
  state.outcomes.add(known)
  state.corpus.get(target)!.push(input)
  return true
}

async function report(state: Fuzzing, target: Target, input: Input, error: Error): Promise<void> {
  const kind = `${target.name} ${kindOf(error)}`
  if (state.findings.has(kind)) return
  state.findings.add(kind)
  const smallest = await minimise(target, input, error)
  const file = writeCrash(target, smallest, error, state.findings.size)
  process.stderr.write(`fuzz: ${target.name}: ${error.stack}\n  ${file}\n`)
}

/** The fewest and shortest inputs that reach the same code; seeds are kept anyway. */
async function distil(state: Fuzzing, target: Target): Promise<Input[]> {
  const { coverage, corpus, outcomes } = state
  const candidates = corpus.get(target)!.toSorted((a, b) => a.join('').length - b.join('').length)
  coverage.reset()
  outcomes.clear()
  for (const seed of target.seeds) await run(state, target, seed)
  await coverage.take()
  const kept: Input[] = []
  for (const input of candidates) {
    const isNewOutcome = await run(state, target, input)
    if ((await coverage.take()) || isNewOutcome) kept.push(input)
  }
  return kept
}
