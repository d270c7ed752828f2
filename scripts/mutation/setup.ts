/** In vitest's worker, before each test file: switches one mutant on, or writes down which ones the file reaches. */
import { writeFileSync } from 'node:fs'
import { afterAll, inject } from 'vitest'

export interface Switched {
  /** Undefined: the code as it is. */
  readonly mutant?: string
  /** How often the mutated place may be passed: an endless loop ends there. */
  readonly hitLimit?: number
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

const { mutant, hitLimit, coverageFile } = inject('mutation')
// The name is Stryker's; the code holds on to this object from its first pass on.
const held = globalThis as typeof globalThis & { __stryker__?: Switches }
held.__stryker__ ??= {}
const switches = held.__stryker__
// Where it is undefined, an environment variable of Stryker's says which one is on.
switches.activeMutant = mutant ?? 'none'
switches.hitLimit = hitLimit
switches.hitCount ??= hitLimit === undefined ? undefined : 0
switches.mutantCoverage ??= { static: {}, perTest: {} }

afterAll(() => {
  if (coverageFile !== undefined) writeFileSync(coverageFile, JSON.stringify(switches.mutantCoverage?.static))
  // The code under test may have caught what the switch threw.
  if (hitLimit !== undefined && switches.hitCount! > hitLimit) throw new Error('An endless loop.')
})
