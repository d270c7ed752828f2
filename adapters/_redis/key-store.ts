/** API keys in three hashes of Redis, by id: what never changes, when a key was revoked, and when it was last used. */
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { fromRecord, type KeyStore, type StoredKey, toRecord } from '../../src/keys/store.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import type { RedisStoreClient } from './subscription-store.ts'

/** Options of `redisKeyStore`. */
export interface RedisKeyStoreOptions extends OutageOptions {
  /** Prefix of the Redis keys, if several servers share one Redis. Default `mayfly`. */
  readonly prefix?: string
}

const OPTIONS: Names<RedisKeyStoreOptions> = { prefix: 'string', ...OUTAGE_OPTIONS }

/** KEYS[1] and names that begin with it, which a cluster stores together. */
const BASE = `local keys, revoked, used = KEYS[1], KEYS[1]..':revoked', KEYS[1]..':used'\n`
const ROW = `local function row(id)
  local record = redis.call('HGET', keys, id)
  return record and {record, redis.call('HGET', revoked, id) or '', redis.call('HGET', used, id) or ''}
end\n`
const CREATE = `${BASE} return redis.call('HSETNX', keys, ARGV[1], ARGV[2])`
const READ = `${BASE}${ROW} return row(ARGV[1])`
const REVOKE = `${BASE} redis.call('HSETNX', revoked, ARGV[1], ARGV[2])
if redis.call('HEXISTS', keys, ARGV[1]) == 1 then return 1 end
redis.call('HDEL', revoked, ARGV[1]) return 0`
const USE = `${BASE} if redis.call('HEXISTS', keys, ARGV[1]) == 0 then return end
if tonumber(ARGV[2]) > tonumber(redis.call('HGET', used, ARGV[1]) or 0) then redis.call('HSET', used, ARGV[1], ARGV[2]) end`
/** The cursor is Redis' own. */
const LIST = `${BASE}${ROW} local page = redis.call('HSCAN', keys, ARGV[1], 'COUNT', ARGV[2])
local rows = {}
for at = 1, #page[2], 2 do rows[#rows + 1] = row(page[2][at]) end
return {page[1], rows}`

type Row = readonly [record: string, revokedAt: string, lastUsedAt: string]

/**
 * Creates a store of API keys in Redis, for `apiKeys` of `mayfly-mcp/keys`. Use a Redis that keeps its data. While it is down, the store
 * rejects within `timeoutMs` (default 5000).
 */
export function redisKeyStore(client: RedisStoreClient, options: RedisKeyStoreOptions = {}): KeyStore {
  requireClient('redisKeyStore', client, 'ioredis or redis')
  refuseUnknown('redisKeyStore', options, OPTIONS)
  const { prefix = 'mayfly' } = options
  watchConnection(client, outagesOf(client, toReport(options, 'Redis')))
  const ask = createStoreAsk(options, 'Redis')
  const name = `{${prefix}:keys}`
  const run = (script: string, ...values: (string | number)[]): Promise<unknown> => {
    const texts = values.map(String)
    return ask(() =>
      'sSubscribe' in client
        ? client.eval(script, { keys: [name], arguments: texts })
        : client.eval(script, 1, name, ...texts),
    )
  }
  const toKey = ([record, revokedAt, lastUsedAt]: Row): StoredKey =>
    fromRecord(record, { revokedAt, lastUsedAt })
  return {
    create: async (key) => (await run(CREATE, key.id, toRecord(key))) === 1,
    async read(id) {
      const row = (await run(READ, id)) as Row | null
      return row === null ? undefined : toKey(row)
    },
    async list({ limit, after = '0' }) {
      const [next, rows] = (await run(LIST, after, limit)) as [string, Row[]]
      return { keys: rows.map(toKey), ...(next !== '0' && { next }) }
    },
    revoke: async (id, revokedAt) => (await run(REVOKE, id, revokedAt)) === 1,
    use: (id, lastUsedAt) => run(USE, id, lastUsedAt),
  }
}
