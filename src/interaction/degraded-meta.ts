/** What a result says of a question that could not be asked. Apart from `degraded.ts`, which only calls that ask load. */
import type { Feature } from '../definition/context.ts'

/** `_meta["mayfly/degraded"]` of a result, or `data` of an error. */
export interface Degraded {
  readonly feature: Feature
  /** Why the feature is not available here. */
  readonly reason: string
  /** What to do about it. */
  readonly remedy: string
}

/** The key in `_meta` of a result whose tool could not ask its client. Its value is a `Degraded`. */
export const DEGRADED_META = 'mayfly/degraded'
