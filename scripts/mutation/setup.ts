/** In vitest's worker, before each test file: switches one mutant on, or writes down which ones the file reaches. */
import { writeFileSync } from 'node:fs'
import { afterAll, expect, inject, vi } from 'vitest'

/** Of one test file. */
export interface Limits {
  /** Milliseconds: a test ends here if it waits for something that a mutant has removed. */
  readonly testTimeoutMs: number
  /** How often the mutated place may be passed: an endless loop ends there. */
  readonly hits?: number
}

export interface Switched {
  /** By absolute path. */
  readonly limits: { readonly [test: string]: Limits }
  /** Undefined: the code as it is. */
  readonly mutant?: string
  /** The file to which the mutants that were reached are written. */
  readonly coverageFile?: string
}

/** How often each mutant was passed. */
export type Hits = { readonly [mutant: string]: number }

declare module 'vitest' {
  export interface ProvidedContext {
    mutation: Switched
  }
}

/** What the switches in the code read and write. */
interface Switches {
  activeMutant?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { static: { [mutant: string]: number }; perTest: object }
}

const { mutant, limits, coverageFile } = inject('mutation')
const { testTimeoutMs, hits: hitLimit } = limits[expect.getState().testPath!]!
vi.setConfig({ testTimeout: testTimeoutMs })
// The name is Stryker's; the code holds on to this object from its first pass on.
const held = globalThis as typeof globalThis & { __stryker__?: Switches }
held.__stryker__ ??= {}
const switches = held.__stryker__
// If it is undefined, an environment variable of Stryker selects the mutant.
switches.activeMutant = mutant ?? 'none'
switches.hitLimit = hitLimit
switches.hitCount = hitLimit === undefined ? undefined : 0
switches.mutantCoverage ??= { static: {}, perTest: {} }

afterAll(() => {
  if (coverageFile !== undefined) writeFileSync(coverageFile, JSON.stringify(switches.mutantCoverage?.static))
  // The code under test may have caught what the switch threw.
  if (hitLimit !== undefined && switches.hitCount! > hitLimit) throw new Error('An endless loop.')
})
