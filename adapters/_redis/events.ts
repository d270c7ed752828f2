/** Events, their subscriptions and deliveries in Redis. */
import type { KeyedStore } from '../../src/keyed/store.ts'
import { openKeyedRedis, type RedisKeyedOptions } from './keyed.ts'
import type { RedisStoreClient } from './subscription-store.ts'

/** Options of `redisEvents`. */
export type RedisEventsOptions = RedisKeyedOptions

/**
 * Creates a store for Events in Redis. Use a Redis that keeps its data, with `maxmemory-policy noeviction`: a failover that loses the last
 * writes loses events, and sends others again. While Redis is down, it rejects within `timeoutMs` (default 5000); a rejected commit may
 * still succeed, and may be repeated.
 *
 * ```ts
 * events({ types: { incident }, store: redisEvents(await createClient({ url }).connect()) })
 * ```
 *
 * @param client A client of `redis` or `ioredis`, or a cluster client: all keys are in one slot.
 */
export function redisEvents(client: RedisStoreClient, options?: RedisEventsOptions): KeyedStore {
  return openKeyedRedis({ name: 'redisEvents', entries: 'events' }, client, options)
}
