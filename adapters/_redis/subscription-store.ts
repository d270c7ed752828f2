/** A store for subscriptions of legacy clients on Redis: an expiring set for each session. */
import {
  DEFAULT_TTL_MS,
  type SubscriptionStore,
  type SubscriptionStoreOptions,
} from '../../src/events/subscription-store.ts'
import type { Ask } from '../_bus/ask.ts'

/** The used members of a client for storing, from either library. */
export type RedisStoreClient = NodeRedisStoreClient | IoRedisStoreClient

/** The library `redis`. */
export interface NodeRedisStoreClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** Only this library uses this spelling, which distinguishes the two. */
  sSubscribe: unknown
}

/** The library `ioredis`. */
export interface IoRedisStoreClient {
  eval(script: string, numberOfKeys: number, key: string, ...values: string[]): Promise<unknown>
}

/** Scripts, so that each is one command: a process that ends before it sets the expiry would leave the set forever. */
const RENEW = `redis.call('PEXPIRE', KEYS[1], ARGV[1])`
const ADD = `redis.call('SADD', KEYS[1], ARGV[2]) ${RENEW}`
const REMOVE = `redis.call('SREM', KEYS[1], ARGV[2]) ${RENEW}`
const LIST = `${RENEW} return redis.call('SMEMBERS', KEYS[1])`
const CLEAR = `redis.call('DEL', KEYS[1])`

export function createRedisStore(
  client: RedisStoreClient,
  prefix: string,
  ask: Ask,
  { ttlMs = DEFAULT_TTL_MS }: SubscriptionStoreOptions,
): SubscriptionStore {
  const run = (script: string, session: string, uri = ''): Promise<unknown> => {
    const key = `${prefix}:subscriptions:${session}`
    const values = [String(Math.ceil(ttlMs)), uri]
    return ask(() =>
      'sSubscribe' in client
        ? client.eval(script, { keys: [key], arguments: values })
        : client.eval(script, 1, key, ...values),
    )
  }
  return {
    add: (session, uri) => run(ADD, session, uri),
    remove: (session, uri) => run(REMOVE, session, uri),
    list: async (session) => ((await run(LIST, session)) as readonly unknown[]).map(String),
    clear: (session) => run(CLEAR, session),
  }
}
