/** Loads what answers refused requests and those without a message, and what reads large bodies. */
import type * as other from './other-part.ts'

export const loadOther = (): Promise<typeof other> => import('./other-part.ts')
