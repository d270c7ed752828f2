/** Loads what serves other bodies than requests, and what creates spans. */
import type * as other from './other-messages.ts'
import type * as traced from './traced.ts'

export const loadOtherMessages = (): Promise<typeof other> => import('./other-messages.ts')
export const loadTraced = (): Promise<typeof traced> => import('./traced.ts')
