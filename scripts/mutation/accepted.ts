/** Mutants that no test kills, on purpose: nothing that a user could see changes. */
import type { Identity } from './identity.ts'

export interface Accepted extends Identity {
  /** Why no test could tell, or why none should. */
  readonly reason: string
}

export const ACCEPTED: readonly Accepted[] = []
