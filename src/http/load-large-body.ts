/** Loads what reads large bodies. */
import type * as large from './large-body.ts'

export const loadLargeBody = (): Promise<typeof large> => import('./large-body.ts')
