/** Loads what seals and opens the state of a call. */
import type * as sealing from './sealing.ts'

export const loadSealing = (): Promise<typeof sealing> => import('./sealing.ts')
