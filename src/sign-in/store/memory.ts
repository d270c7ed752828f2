/** Grants in the memory of one process, for development and tests. */
import { createMemoryKeyed } from '../../keyed/memory.ts'
import type { GrantStore } from './store.ts'

/**
 * Creates a store in memory, for `mayfly dev` and tests: its entries are lost with the process, and other processes do not have them. Expired
 * ones are deleted, others are not limited in number.
 *
 * ```ts
 * signIn({ store: createMemoryGrants(), upstream, scopes: { notes: 'Read your notes' } })
 * ```
 */
export function createMemoryGrants(): GrantStore {
  return createMemoryKeyed()
}
