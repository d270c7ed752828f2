/** Loads the legacy era. */
import type * as legacy from './legacy.ts'

export const loadLegacy = (): Promise<typeof legacy> => import('./legacy.ts')
