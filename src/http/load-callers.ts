/** Loads what identifies callers, and what limits them. */
import type * as callers from './callers-part.ts'

export const loadCallers = (): Promise<typeof callers> => import('./callers-part.ts')
