/**
 * Tasks in Redis: a hash for each, and sorted sets of those that are due, that expire, and that are open for an owner. Each operation is
 * one script, so it is atomic.
 */

import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import type { StoredTask, TaskStore } from '../../src/tasks/store.ts'
import { checkTask, createDuplicateError, isExpired, isTaskId } from '../../src/tasks/stored.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'

/** The used members of a client or cluster client for scripts, from either library. */
export type RedisScripts = NodeRedisScripts | IoRedisScripts

/** The library `redis`. */
export interface NodeRedisScripts {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** Only this library uses this spelling, which distinguishes the two. */
  sSubscribe: unknown
}

/** The library `ioredis`. */
export interface IoRedisScripts {
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
}

/** Options of `redisTaskStore`. */
export interface RedisTaskStoreOptions extends OutageOptions {
  /** Prefix of the keys, if several servers share one Redis. Default `mayfly`. */
  readonly prefix?: string
}

const OPTIONS: Names<RedisTaskStoreOptions> = { prefix: 'string', ...OUTAGE_OPTIONS }

/** Maximum bytes of one task: a script blocks all others while it copies them. */
const MAX_STATE_BYTES = 1_000_000

/** With a key, which a cluster needs. */
const NOW = `return redis.call('TIME')`

const READ = `return redis.call('HMGET', KEYS[1], 'owner', 'version', 'open', 'due', 'expires', 'state')`

/** The start of every writing script. A task whose key expires leaves its name in the sets, so each script removes some of those. */
const WRITE = `
local task, due, expiring, open = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, owner, version, isOpen, dueAt, expiresAt, state, writer, now = unpack(ARGV, 1, 9)
local function setExpiry(key, at)
  if at == '' then redis.call('PERSIST', key) else redis.call('PEXPIREAT', key, at) end
end
local function isExpired(at)
  return at ~= '' and tonumber(at) <= tonumber(now)
end
local function write()
  redis.call('HSET', task, 'owner', owner, 'version', version, 'open', isOpen, 'due', dueAt, 'expires', expiresAt,
    'state', state, 'writer', writer)
  setExpiry(task, expiresAt)
  local isDue = isOpen == '1' and dueAt ~= ''
  if isDue then redis.call('ZADD', due, dueAt, id) else redis.call('ZREM', due, id) end
  if isDue and expiresAt ~= '' then redis.call('ZADD', expiring, expiresAt, id) else redis.call('ZREM', expiring, id) end
  redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
  if isOpen == '1' then redis.call('ZADD', open, expiresAt == '' and '+inf' or expiresAt, id) else redis.call('ZREM', open, id) end
  local last = redis.call('ZREVRANGE', open, 0, 0, 'WITHSCORES')[2]
  if last then setExpiry(open, last == 'inf' and '' or string.format('%.0f', last)) end
  return 1
end
`

/** A client may repeat a script after it lost the answer: `writer` shows that the task is its own. */
const CREATE = `${WRITE}
local kept = redis.call('HMGET', task, 'expires', 'creator')
if kept[2] == writer then return 1 end
if kept[1] and not isExpired(kept[1]) then return -1 end
redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
if redis.call('ZCARD', open) >= tonumber(ARGV[10]) then return 0 end
local gone = redis.call('ZRANGEBYSCORE', expiring, '-inf', now, 'LIMIT', 0, 10)
if #gone > 0 then
  redis.call('ZREM', due, unpack(gone))
  redis.call('ZREM', expiring, unpack(gone))
end
redis.call('HSET', task, 'creator', writer)
return write()`

const REPLACE = `${WRITE}
local kept = redis.call('HMGET', task, 'version', 'expires', 'writer')
if kept[3] == writer then return 1 end
if not kept[1] or isExpired(kept[2]) or tonumber(kept[1]) ~= tonumber(version) - 1 then return 0 end
return write()`

/** `ARGV[1]` is the requested time, `ARGV[2]` the current time if that is earlier: only tasks expired by then are removed. */
const DUE = `
local due, expiring, now, limit = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[3])
repeat
  local gone = redis.call('ZRANGEBYSCORE', expiring, '-inf', ARGV[2], 'LIMIT', 0, 1000)
  if #gone > 0 then
    redis.call('ZREM', due, unpack(gone))
    redis.call('ZREM', expiring, unpack(gone))
  end
until #gone == 0
local ids, offset, page = {}, 0, nil
repeat
  page = redis.call('ZRANGEBYSCORE', due, '-inf', ARGV[1], 'LIMIT', offset, ARGV[3])
  offset = offset + #page
  for _, id in ipairs(page) do
    local at = redis.call('ZSCORE', expiring, id)
    if #ids < limit and not (at and tonumber(at) <= now) then ids[#ids + 1] = id end
  end
until #page == 0 or #ids >= limit
return ids`

/**
 * Creates a task store in Redis, for servers with many processes. It is as durable as that Redis: with `appendonly yes` and
 * `appendfsync always` a crash loses nothing; a failover to a replica may lose the last writes. `maxmemory-policy` must be `noeviction`.
 * While Redis is down, it rejects within `timeoutMs` (default 5000); a rejected write may still succeed.
 *
 * @param client A client of `redis` or `ioredis`, or a cluster client: all keys are in one slot.
 */
export function redisTaskStore(client: RedisScripts, options: RedisTaskStoreOptions = {}): TaskStore {
  requireClient('redisTaskStore', client, 'ioredis or redis')
  refuseUnknown('redisTaskStore', options, OPTIONS)
  const { prefix = 'mayfly' } = options
  watchConnection(client, outagesOf(client, toReport(options, 'Redis')))
  const ask = createStoreAsk(options, 'Redis')
  // Braces: a cluster keeps keys with the same text in braces together, which scripts require.
  const keyOf = (...parts: string[]): string => [`{${prefix}:tasks}`, ...parts].join(':')
  const run = (script: string, keys: string[], args: string[]): Promise<unknown> =>
    ask(() =>
      'sSubscribe' in client
        ? client.eval(script, { keys, arguments: args })
        : client.eval(script, keys.length, ...keys, ...args),
    )
  const clock = createMeasuredClock(async () => {
    const [seconds, microseconds] = (await run(NOW, [keyOf('due')], [])) as string[]
    return Number(seconds) * 1000 + Number(microseconds) / 1000
  })
  const write = (script: string, task: StoredTask, ...more: string[]): Promise<unknown> => {
    checkTask(task, MAX_STATE_BYTES)
    const keys = [keyOf('task', task.id), keyOf('due'), keyOf('expiring'), keyOf('open', task.owner)]
    return run(script, keys, [...toArguments(task), crypto.randomUUID(), String(clock.now()), ...more])
  }
  return {
    maxStateBytes: MAX_STATE_BYTES,
    clockOffsetMs: clock.offsetMs,
    async create(task, maxOpen) {
      const reply = Number(await write(CREATE, task, String(Math.min(maxOpen, Number.MAX_SAFE_INTEGER))))
      if (reply < 0) throw createDuplicateError()
      return reply === 1
    },
    async read(id) {
      if (!isTaskId(id)) return undefined
      const task = fromReply(id, await run(READ, [keyOf('task', id)], []))
      return task === undefined || isExpired(task, clock.now()) ? undefined : task
    },
    async replace(task) {
      return Number(await write(REPLACE, task)) === 1
    },
    async due(now, limit) {
      const present = Math.min(now, clock.now())
      return (await run(
        DUE,
        [keyOf('due'), keyOf('expiring')],
        [now, present, limit].map(String),
      )) as string[]
    },
  }
}

function toArguments({ id, owner, version, isOpen, dueAt, expiresAt, state }: StoredTask): string[] {
  const time = (at: number | null): string => (at === null ? '' : String(Math.ceil(at)))
  return [id, owner, String(version), isOpen ? '1' : '0', time(dueAt), time(expiresAt), state]
}

function fromReply(id: string, reply: unknown): StoredTask | undefined {
  const [owner, version, isOpen, dueAt, expiresAt, state] = reply as (string | null)[]
  if (owner == null || state == null) return undefined
  const time = (at: string | null | undefined): number | null => (at ? Number(at) : null)
  return {
    id,
    owner,
    version: Number(version),
    isOpen: isOpen === '1',
    dueAt: time(dueAt),
    expiresAt: time(expiresAt),
    state,
  }
}
