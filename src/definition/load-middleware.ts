/** Loads what runs a call through middleware. */
import type * as middleware from './through-middleware.ts'

export const loadMiddleware = (): Promise<typeof middleware> => import('./through-middleware.ts')
