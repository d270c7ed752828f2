/** A process that holds one vitest and runs test files against one mutant after another. Nothing is written into the checkout. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, type TestModule, type TestSpecification } from 'vitest/node'
import { sourceEntries } from '../source-entries.ts'
import { ROOT } from './identity.ts'
import type { Hits, Limits, Switched } from './setup.ts'

/** The first message to the process. */
export interface Start {
  /** Code that replaces that of the checkout, by absolute path. */
  readonly code: { readonly [path: string]: string }
}

/** Each further message. */
export interface Run {
  readonly mutant?: string
  /** By absolute path of a test file. */
  readonly limits: { readonly [test: string]: Limits }
  /** Absolute paths, in the order in which they are run, up to the first that fails. */
  readonly tests: readonly string[]
}

/** The answer to a `Run`. */
export interface Ran {
  /** The test file that failed. */
  readonly failed?: string
  /** What failed in it. */
  readonly failure?: string
  /** Only if no mutant was on. */
  readonly hits?: Hits
}

class InOrder {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    return files
  }
}

const folder = mkdtempSync(join(tmpdir(), 'mayfly-mutate-'))
const coverageFile = join(folder, 'coverage.json')
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
process.once('disconnect', () => process.exit())
process.once('message', (message: Start) => {
  void serve(message)
})

async function serve({ code }: Start): Promise<void> {
  const vitest = await createVitest(
    'test',
    {
      root: ROOT,
      watch: false,
      // Not its projects: each run has files of several.
      config: false,
      include: ['test/**/*.test.ts'],
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 60_000 } },
      // A thread starts in a tenth of a second, and each run has one of its own: a mutant may break what modules do when they load.
      pool: 'threads',
      isolate: false,
      maxWorkers: 1,
      bail: 1,
      // Its key is the file on disk, and not the code that a plugin puts in its place.
      fsModuleCache: false,
      silent: true,
      reporters: [{}],
      setupFiles: [join(ROOT, 'scripts/mutation/setup.ts')],
      sequence: { sequencer: InOrder },
    },
    {
      plugins: [
        // The examples import the package by its name, and what is built holds no mutants.
        sourceEntries,
        { name: 'mutants', enforce: 'pre', load: (id: string) => code[id.split('?')[0]!] },
      ],
    },
  )
  const project = vitest.getRootProject()
  process.on('message', async ({ mutant, limits, tests }: Run) => {
    const isPlain = mutant === undefined
    const switched: Switched = {
      limits,
      ...(isPlain ? { coverageFile } : { mutant }),
    }
    rmSync(coverageFile, { force: true })
    project.provide('mutation', switched)
    const specifications = tests.map((file) => project.createSpecification(file))
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    // It contains modules of earlier runs: only those up to the first that fails belong to this run.
    const failed = tests
      .map((file) => testModules.find(({ moduleId }) => moduleId === file)!)
      .find((module) => module.state() === 'failed')
    const ran: Ran = {
      ...(failed && { failed: failed.moduleId, failure: describe(failed) }),
      ...(!failed &&
        unhandledErrors.length > 0 && { failed: tests[0]!, failure: String(unhandledErrors[0]) }),
      ...(isPlain && { hits: readHits() }),
    }
    process.send!(ran)
  })
  process.send!('ready')
}

function describe(module: TestModule): string {
  for (const test of module.children.allTests('failed'))
    return `${test.fullName}: ${firstLine(test.result().errors?.[0]?.message)}`
  return firstLine(module.errors()[0]?.message)
}

function firstLine(message: string | undefined): string {
  return message?.split('\n')[0] ?? ''
}

function readHits(): Hits {
  try {
    return JSON.parse(readFileSync(coverageFile, 'utf8')) as Hits
  } catch {
    // A file whose tests are all skipped reaches nothing.
    return {}
  }
}
