/** Loads what serves batches, and what creates spans. */
import type * as batch from './batch-reply.ts'
import type * as traced from './traced.ts'

export const loadBatch = (): Promise<typeof batch> => import('./batch-reply.ts')
export const loadTraced = (): Promise<typeof traced> => import('./traced.ts')
