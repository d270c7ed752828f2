/** Which stores Events take: subscriptions, events and deliveries are entries of a transactional key-value store. */
import { isKeyedStore, type KeyedStore } from '../../keyed/store.ts'

/** @throws TypeError unless it is a store. */
export function requireEventsStore(where: string, store: unknown): asserts store is KeyedStore {
  if (isKeyedStore(store)) return
  throw new TypeError(
    `${where} needs a store for Events: postgresEvents(…), redisEvents(…), dynamoEvents(…), durableObjectEvents(…) or createMemoryEvents().`,
  )
}
