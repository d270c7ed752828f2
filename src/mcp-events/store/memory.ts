/** Events in the memory of one process, for development and tests. */
import { createMemoryKeyed } from '../../keyed/memory.ts'
import type { KeyedStore } from '../../keyed/store.ts'

/**
 * Creates a store for Events in memory, for `mayfly dev` and tests: events, subscriptions and deliveries are lost with the process, and other
 * processes do not have them. Expired entries are deleted, others are not limited in number.
 *
 * ```ts
 * events({ types: { incident }, store: createMemoryEvents() })
 * ```
 */
export function createMemoryEvents(): KeyedStore {
  return createMemoryKeyed()
}
