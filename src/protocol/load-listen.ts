/** Loads the streams of changes. */
import type * as listen from './listen.ts'

export const loadListen = (): Promise<typeof listen> => import('./listen.ts')
