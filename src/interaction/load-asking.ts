/** Loads what calls that ask or have steps need. */
import type * as asking from './asking-part.ts'

export type Asking = typeof asking

export const loadAsking = (): Promise<Asking> => import('./asking-part.ts')
