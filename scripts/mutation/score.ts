/** Runs the tests of a group against each of its mutants. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ACCEPTED } from './accepted.ts'
import type { Group } from './groups.ts'
import { keyOf, ROOT } from './identity.ts'
import { type Mutant, makeMutants } from './mutants.ts'
import { createRunner, type Runner } from './runner.ts'
import type { Hits } from './setup.ts'

/** `hung`: the tests did not end in time. It counts as killed. */
export type Fate = 'killed' | 'hung' | 'survived' | 'not covered'

export interface Tried {
  readonly mutant: Mutant
  readonly fate: Fate
  readonly isAccepted: boolean
  /** The test file that killed it, and what it said. */
  readonly by?: string
}

export interface Score {
  readonly group: Group
  readonly tried: readonly Tried[]
  /** Mutants of prose, which are not made. */
  readonly ignored: number
  /** Test files that fail without a mutant: they say nothing about mutants, and are left out. */
  readonly broken: readonly string[]
  /** Milliseconds from the first mutant to the last. */
  readonly tookMs: number
}

interface TestFile {
  readonly path: string
  readonly durationMs: number
  readonly hits: Hits
  kills: number
}

/** A loop counts as endless if it passes a place this many times as often as the whole test file does, and at least so often. */
const ENDLESS = 100
const LEAST_ENDLESS = 100_000

/** Milliseconds for one test file without a mutant. */
const FIRST_RUN_MS = 120_000

/** A run against a mutant may take this many times as long as the first run, and some more: other work shares the machine. */
const PATIENCE = 5
const PATIENCE_MS = 15_000

/** Milliseconds for one test against a mutant, if its file takes less than that divided by `PATIENCE` without a mutant. */
const LEAST_TEST_MS = 5000

export async function scoreGroup(group: Group, workers: number, say: (text: string) => void): Promise<Score> {
  const { mutants, code, ignored } = await makeMutants(group.sources.flatMap((path) => filesUnder(path)))
  const runners = Array.from({ length: workers }, () => createRunner({ code }))
  try {
    const { tests, broken } = await firstRun(testsOf(group), runners)
    const reached = new Set(tests.flatMap(({ hits }) => Object.keys(hits))).size
    if (reached === 0) throw new Error(`No test reaches ${group.name}: look at scripts/mutation/groups.ts.`)
    say(`${mutants.length} mutants, ${reached} of them reached by ${tests.length} test files`)
    const startedAt = Date.now()
    const tried: Tried[] = []
    await eachWith(runners, mutants, async (runner, mutant) => {
      tried.push(await tryMutant(mutant, tests, runner))
      if (tried.length % 50 === 0) say(`${tried.length} of ${mutants.length} tried`)
    })
    const order = new Map(mutants.map(({ id }, index) => [id, index]))
    tried.sort((a, b) => order.get(a.mutant.id)! - order.get(b.mutant.id)!)
    return { group, tried, ignored, broken, tookMs: Date.now() - startedAt }
  } finally {
    for (const runner of runners) runner.close()
  }
}

async function firstRun(
  paths: readonly string[],
  runners: readonly Runner[],
): Promise<{ tests: TestFile[]; broken: string[] }> {
  const tests: TestFile[] = []
  const broken: string[] = []
  await eachWith(runners, paths, async (runner, path) => {
    const startedAt = Date.now()
    const outcome = await runner.run(
      { tests: [path], limits: { [path]: { testTimeoutMs: FIRST_RUN_MS } } },
      FIRST_RUN_MS,
    )
    if (outcome === 'hung' || outcome.failed !== undefined) broken.push(path.slice(ROOT.length + 1))
    else tests.push({ path, durationMs: Date.now() - startedAt, hits: outcome.hits!, kills: 0 })
  })
  return { tests: tests.filter(({ hits }) => Object.keys(hits).length > 0), broken }
}

async function tryMutant(mutant: Mutant, tests: readonly TestFile[], runner: Runner): Promise<Tried> {
  const isAccepted = ACCEPTED_KEYS.has(keyOf(mutant))
  const covering = tests
    .filter(({ hits }) => mutant.id in hits)
    // Test files that killed many run first, slow ones last.
    .sort((a, b) => b.kills / b.durationMs - a.kills / a.durationMs || a.durationMs - b.durationMs)
  if (covering.length === 0) return { mutant, fate: 'not covered', isAccepted }
  const usualMs = covering.reduce((sum, { durationMs }) => sum + durationMs, 0)
  const limits = covering.map(({ path, durationMs, hits }) => {
    const testTimeoutMs = Math.max(LEAST_TEST_MS, durationMs * PATIENCE)
    return [path, { testTimeoutMs, hits: Math.max(LEAST_ENDLESS, hits[mutant.id]! * ENDLESS) }] as const
  })
  const outcome = await runner.run(
    { mutant: mutant.id, limits: Object.fromEntries(limits), tests: covering.map(({ path }) => path) },
    usualMs * PATIENCE + PATIENCE_MS,
  )
  if (outcome === 'hung') return { mutant, fate: 'hung', isAccepted }
  if (outcome.failed === undefined) return { mutant, fate: 'survived', isAccepted }
  const killer = covering.find(({ path }) => path === outcome.failed)
  if (killer) killer.kills++
  const by = `${outcome.failed.slice(ROOT.length + 1)}: ${outcome.failure}`
  const fate = outcome.failure?.includes('timed out in') ? 'hung' : 'killed'
  return { mutant, fate, isAccepted, by }
}

const ACCEPTED_KEYS = new Set(ACCEPTED.map(keyOf))

/** Entries for files of the group that are no longer mutants. */
export function staleEntries({ group, tried }: Score): readonly string[] {
  const made = new Set(tried.map(({ mutant }) => keyOf(mutant)))
  return ACCEPTED.filter(({ file }) =>
    group.sources.some((path) => file === path || file.startsWith(`${path}/`)),
  )
    .filter((entry) => !made.has(keyOf(entry)))
    .map(({ file, line, original, replacement }) => `${file}: ${original} → ${replacement} in "${line}"`)
}

function testsOf({ tests, except = [] }: Group): string[] {
  const isUnder = (file: string, starts: readonly string[]) => starts.some((start) => file.startsWith(start))
  return ['test/unit', 'test/property', 'test/fuzz']
    .flatMap((folder) => filesUnder(folder))
    .filter((file) => file.endsWith('.test.ts') && isUnder(file, tests) && !isUnder(file, except))
    .map((file) => join(ROOT, file))
}

/** The files of a folder, or the one file, under the root. */
function filesUnder(path: string): string[] {
  if (statSync(join(ROOT, path)).isFile()) return [path]
  return readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
    .map((name) => `${path}/${name}`)
    .filter((file) => file.endsWith('.ts'))
    .sort()
}

/** Hands each item to the next runner that is free. */
async function eachWith<Item>(
  runners: readonly Runner[],
  items: readonly Item[],
  work: (runner: Runner, item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    runners.map(async (runner) => {
      for (const item of queue) await work(runner, item)
    }),
  )
}
