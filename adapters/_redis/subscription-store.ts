/** A store for subscriptions of legacy clients on Redis: an expiring set for each session. */
import {
  CHARACTERS_PER_URI,
  DEFAULT_MAX_CHARACTERS,
  DEFAULT_TTL_MS,
  type SubscriptionStore,
  type SubscriptionStoreOptions,
} from '../../src/events/subscription-store.ts'
import type { Ask } from '../_bus/ask.ts'
import type { OwnedName } from '../_bus/owned-name.ts'

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
const SUM = `local sum = 0
for _, uri in ipairs(redis.call('SMEMBERS', KEYS[1])) do sum = sum + #uri + ${CHARACTERS_PER_URI} end return sum`
const ADD = `redis.call('SADD', KEYS[1], ARGV[2]) ${RENEW} ${SUM}`
const REMOVE = `redis.call('SREM', KEYS[1], ARGV[2]) ${RENEW} ${SUM}`
const LIST = `${RENEW} return redis.call('SMEMBERS', KEYS[1])`
const CLEAR = `redis.call('DEL', KEYS[1])`

/**
 * What each session holds: KEYS[1] and keys beginning with it, which a cluster stores together. The sets of sessions are elsewhere. `used`
 * and `of:caller` have the time of last use, `size` the characters, `total` those of each caller and, without a name, of all.
 */
const ACCOUNT = `
local base, session, now, ttl = KEYS[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[1])
local used, owner, size, total = base..':used', base..':owner', base..':size', base..':total'
local function drop(one)
  local caller = redis.call('HGET', owner, one)
  if not caller then return end
  local held = tonumber(redis.call('HGET', size, one))
  redis.call('ZREM', used, one)
  redis.call('ZREM', base..':of:'..caller, one)
  redis.call('HDEL', owner, one)
  redis.call('HDEL', size, one)
  for _, name in ipairs({'', ':'..caller}) do
    if redis.call('HINCRBY', total, name, 0 - held) <= 0 then redis.call('HDEL', total, name) end
  end
end
local function touch(caller)
  redis.call('ZADD', used, now, session)
  redis.call('ZADD', base..':of:'..caller, now, session)
  for _, key in ipairs({used, owner, size, total, base..':of:'..caller}) do redis.call('PEXPIRE', key, ttl) end
end
`
const TOUCH = `${ACCOUNT} local caller = redis.call('HGET', owner, session) if caller then touch(caller) end`
const DROP = `${ACCOUNT} drop(session)`
/** To fewer characters: what is not counted, or less, stays as it is. */
const SHRINK = `${ACCOUNT}
local held, caller = tonumber(ARGV[4]), redis.call('HGET', owner, session)
local freed = tonumber(redis.call('HGET', size, session) or 0) - held
if not caller or freed <= 0 then return end
redis.call('HSET', size, session, held)
for _, name in ipairs({'', ':'..caller}) do redis.call('HINCRBY', total, name, 0 - freed) end
touch(caller)
if held == 0 then drop(session) end`
/** Returns the sessions that have no room. */
const HOLD = `${ACCOUNT}
local held, caller, share, max = tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
for _, one in ipairs(redis.call('ZRANGEBYSCORE', used, '-inf', now - ttl, 'LIMIT', 0, 100)) do drop(one) end
drop(session)
redis.call('HSET', owner, session, caller)
redis.call('HSET', size, session, held)
redis.call('HINCRBY', total, '', held)
redis.call('HINCRBY', total, ':'..caller, held)
touch(caller)
local gone = {}
local function dropOldest(of)
  for _, one in ipairs(redis.call('ZRANGE', of, 0, 1)) do
    if one ~= session then drop(one) gone[#gone + 1] = one return true end
  end
  return false
end
local function heldBy(name) return tonumber(redis.call('HGET', total, name) or 0) end
while heldBy(':'..caller) > share * (max - heldBy('') + heldBy(':'..caller)) do
  if not dropOldest(base..':of:'..caller) then break end
end
while heldBy('') > max do if not dropOldest(used) then break end end
return gone`

export function createRedisStore(
  client: RedisStoreClient,
  prefix: OwnedName,
  ask: Ask,
  { ttlMs = DEFAULT_TTL_MS, maxCharacters = DEFAULT_MAX_CHARACTERS }: SubscriptionStoreOptions,
): SubscriptionStore {
  const run = (script: string, key: string, ...more: string[]): Promise<unknown> => {
    const values = [String(Math.ceil(ttlMs)), ...more]
    return ask(() =>
      'sSubscribe' in client
        ? client.eval(script, { keys: [key], arguments: values })
        : client.eval(script, 1, key, ...values),
    )
  }
  const keyOf = (session: string): string => `${prefix.get()}:subscriptions:${session}`
  const account = (script: string, session: string, ...more: (string | number)[]): Promise<unknown> =>
    run(script, `{${prefix.get()}:subscriptions}`, session, String(Date.now()), ...more.map(String))
  return {
    attach: prefix.attach,
    async add(session, uri, { caller, share }) {
      const characters = Number(await run(ADD, keyOf(session), uri))
      const gone = await account(HOLD, session, characters, caller, share, maxCharacters)
      for (const one of gone as readonly unknown[]) await run(CLEAR, keyOf(String(one)))
    },
    async remove(session, uri) {
      const characters = Number(await run(REMOVE, keyOf(session), uri))
      await account(SHRINK, session, characters)
    },
    async list(session) {
      const uris = (await run(LIST, keyOf(session))) as readonly unknown[]
      if (uris.length > 0) await account(TOUCH, session)
      return uris.map(String)
    },
    async clear(session) {
      await run(CLEAR, keyOf(session))
      await account(DROP, session)
    },
  }
}
