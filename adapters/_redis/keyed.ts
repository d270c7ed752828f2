/** A transactional store in Redis: a hash for each entry, which expires by itself, and two sorted sets of the keys, by name and by expiry. */
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { compareKeys, isEntryKey, RECEIPT_MS, toCommit, toRange } from '../../src/keyed/commit.ts'
import type { KeyedStore, KeyedWrite } from '../../src/keyed/store.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'
import type { RedisStoreClient } from './subscription-store.ts'

/** Options of a store in Redis. */
export interface RedisKeyedOptions extends OutageOptions {
  /** Prefix of the Redis keys, if several servers share one Redis. Default `mayfly`. */
  readonly prefix?: string
}

const OPTIONS: Names<RedisKeyedOptions> = { prefix: 'string', ...OUTAGE_OPTIONS }

/** Expired keys that one commit removes from the sets: more than it adds, so that they do not pile up. */
const REMOVED_AT_ONCE = 100

/** KEYS[1] and names that begin with it, which a cluster stores together. */
const BASE = `local base, names, ends = KEYS[1], KEYS[1]..':names', KEYS[1]..':ends'
local function entry(key) return base..':entry:'..key end\n`

const NOW = `return redis.call('TIME')`

const READ = `${BASE} return redis.call('HMGET', entry(ARGV[1]), 'value', 'version', 'expires')`

/**
 * ARGV: version, digest, now, and for each write its key, what to do, what to compare (`*`: nothing, empty: that there is none, or `=` and a
 * version), the value and when it expires. Returns 1 if it was made, now or before.
 */
const COMMIT = `${BASE}
local receipt = base..':commit:'..ARGV[1]
local made = redis.call('GET', receipt)
if made then return made == ARGV[2] and 1 or 0 end
for at = 4, #ARGV, 5 do
  local version = redis.call('HGET', entry(ARGV[at]), 'version')
  local expected = ARGV[at + 2]
  if expected ~= '*' and expected ~= (version and '='..version or '') then return 0 end
end
for at = 4, #ARGV, 5 do
  local key, what, value, expires = ARGV[at], ARGV[at + 1], ARGV[at + 3], ARGV[at + 4]
  if what == 'delete' then
    redis.call('DEL', entry(key))
    redis.call('ZREM', names, key)
    redis.call('ZREM', ends, key)
  elseif what == 'set' then
    redis.call('HSET', entry(key), 'value', value, 'version', ARGV[1], 'expires', expires)
    redis.call('ZADD', names, 0, key)
    redis.call('ZADD', ends, expires == '' and '+inf' or expires, key)
    if expires == '' then redis.call('PERSIST', entry(key)) else redis.call('PEXPIREAT', entry(key), expires) end
  end
end
redis.call('SET', receipt, ARGV[2], 'PX', ${RECEIPT_MS})
for _, key in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', ARGV[3], 'LIMIT', 0, ${REMOVED_AT_ONCE})) do
  if redis.call('EXISTS', entry(key)) == 0 then
    redis.call('ZREM', names, key)
    redis.call('ZREM', ends, key)
  end
end
local last = redis.call('ZREVRANGE', ends, 0, 0, 'WITHSCORES')[2]
for _, set in ipairs({names, ends}) do
  if last == 'inf' then
    redis.call('PERSIST', set)
  elseif last then
    redis.call('PEXPIREAT', set, string.format('%.0f', last))
  end
end
return 1`

/** Returns the keys of the page that have not expired, and the last one that it looked at if there may be more. */
const LIST = `${BASE}
local page = redis.call('ZRANGEBYLEX', names, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
local keys = {}
for _, key in ipairs(page) do
  if redis.call('EXISTS', entry(key)) == 1 then keys[#keys + 1] = key end
end
return {keys, #page == tonumber(ARGV[3]) and page[#page] or ''}`

/** What makes such a store: `name` is for errors, and `entries` a part of each key. */
export interface RedisMaker {
  readonly name: string
  readonly entries: 'grants' | 'events'
}

export function openKeyedRedis(
  maker: RedisMaker,
  client: RedisStoreClient,
  options: RedisKeyedOptions = {},
): KeyedStore {
  requireClient(maker.name, client, 'ioredis or redis')
  refuseUnknown(maker.name, options, OPTIONS)
  const { prefix = 'mayfly' } = options
  watchConnection(client, outagesOf(client, toReport(options, 'Redis')))
  const ask = createStoreAsk(options, 'Redis')
  const name = `{${prefix}:${maker.entries}}`
  const run = (script: string, ...values: string[]): Promise<unknown> =>
    ask(() =>
      'sSubscribe' in client
        ? client.eval(script, { keys: [name], arguments: values })
        : client.eval(script, 1, name, ...values),
    )
  const clock = createMeasuredClock(async () => {
    const [seconds, microseconds] = (await run(NOW)) as string[]
    return Number(seconds) * 1000 + Number(microseconds) / 1000
  })
  return {
    clockOffsetMs: clock.offsetMs,
    async read(key) {
      if (!isEntryKey(key)) return undefined
      const [value, version, expires] = (await run(READ, key)) as (string | null)[]
      if (value == null || version == null) return undefined
      return { value, version, ...(expires && { expiresAt: Number(expires) }) }
    },
    async commit(given, made) {
      const { version, writes, digest } = await toCommit(given, made)
      const reply = await run(COMMIT, version, digest, String(clock.now()), ...writes.flatMap(toArguments))
      return reply === 1
    },
    async list(options) {
      const range = toRange(options)
      if (range === undefined) return { keys: [] }
      const { from, to, after, limit } = range
      const start = compareKeys(after, from) >= 0 ? `(${after}` : `[${from}`
      const [keys, next] = (await run(LIST, start, `(${to}`, String(limit))) as [string[], string]
      return { keys, ...(next !== '' && { next }) }
    },
  }
}

function toArguments({ key, value, expiresAt, ifVersion, isCheck }: KeyedWrite): string[] {
  const what = isCheck === true ? 'check' : value === undefined ? 'delete' : 'set'
  const expected = ifVersion === undefined ? '*' : ifVersion === null ? '' : `=${ifVersion}`
  return [key, what, expected, value ?? '', expiresAt === undefined ? '' : String(expiresAt)]
}
