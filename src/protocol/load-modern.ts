/** Loads what composes modern results that clients may keep. */
import type * as shared from './modern-shared.ts'

export const loadShared = (): Promise<typeof shared> => import('./modern-shared.ts')
