/** Grants of sign-in in Redis. */
import type { GrantStore } from '../../src/sign-in/store/store.ts'
import { openKeyedRedis, type RedisKeyedOptions } from './keyed.ts'
import type { RedisStoreClient } from './subscription-store.ts'

/** Options of `redisGrants`. */
export type RedisGrantsOptions = RedisKeyedOptions

/**
 * Creates a store of grants in Redis, for `signIn` of `mayfly-mcp/sign-in`. Use a Redis that keeps its data, with `maxmemory-policy
 * noeviction`: after a failover that loses the last writes, a code or a refresh token may be used twice. While Redis is down, it rejects
 * within `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated.
 *
 * ```ts
 * signIn({ store: redisGrants(await createClient({ url }).connect()), upstream, scopes })
 * ```
 *
 * @param client A client of `redis` or `ioredis`, or a cluster client: all keys are in one slot.
 */
export function redisGrants(client: RedisStoreClient, options?: RedisGrantsOptions): GrantStore {
  return openKeyedRedis({ name: 'redisGrants', entries: 'grants' }, client, options)
}
