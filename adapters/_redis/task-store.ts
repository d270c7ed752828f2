/** Tasks in Redis. Each write is one script, so it is atomic. */
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { type DueTask, fairPageOf } from '../../src/tasks/fair-page.ts'
import type { StoredTask, TaskStore } from '../../src/tasks/store.ts'
import { CursorError, checkTask, createDuplicateError, isExpired, isTaskId } from '../../src/tasks/stored.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createOwnedName } from '../_bus/owned-name.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'
import { COUNT, CREATE, DUE_OF_NONE, DUE_OF_OWNERS, DUE_OWNERS, LIST, READ, REPLACE } from './task-scripts.ts'

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
  /** Prefix of the keys. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly prefix?: string
}

const OPTIONS: Names<RedisTaskStoreOptions> = { prefix: 'string', ...OUTAGE_OPTIONS }

/** Maximum bytes of one task: a script blocks all others while it copies them. */
const MAX_STATE_BYTES = 1_000_000

/** Owners whose due tasks are counted, those that are due for the longest time. */
const MAX_COUNTED_OWNERS = 1000

/** With a key, which a cluster needs. */
const NOW = `return redis.call('TIME')`

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
  const prefix = createOwnedName('redisTaskStore', 'prefix', options.prefix)
  watchConnection(client, outagesOf(client, toReport(options, 'Redis')))
  const ask = createStoreAsk(options, 'Redis')
  // Braces: a cluster keeps keys with the same text in braces together, which scripts require.
  const keyOf = (...parts: string[]): string => [`{${prefix.get()}:tasks}`, ...parts].join(':')
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
    const { id, owner, server } = task
    const sets = server === undefined ? [keyOf('due'), keyOf('expiring')] : setsOf(server, owner)
    const all = server === undefined ? [] : [keyOf('owners', server), keyOf('servers')]
    const keys = [keyOf('task', id), ...sets, keyOf('open', owner), ...all]
    const bookkeeping = [crypto.randomUUID(), String(clock.now()), server ?? '']
    return run(script, keys, [...toArguments(task), ...bookkeeping, ...more])
  }
  const setsOf = (server: string, owner: string): string[] => {
    const whose = `${server.length}:${server}:${owner}`
    return [keyOf('due', whose), keyOf('expiring', whose)]
  }
  /** Those that are due for the longest time. */
  const dueOwners = async (server: string, now: number | string, limit: number): Promise<string[]> =>
    (await run(DUE_OWNERS, [keyOf('owners', server)], [String(now), String(limit)])) as string[]
  /** Up to `limit` of each of the owners that are due for the longest time. */
  const dueOf = async (server: string, times: string[], limit: number): Promise<DueTask[]> => {
    const owners = await dueOwners(server, times[0]!, limit)
    if (owners.length === 0) return []
    const keys = [keyOf('owners', server), ...owners.flatMap((owner) => setsOf(server, owner))]
    return toDue(await run(DUE_OF_OWNERS, keys, [...times, String(limit), ...owners]))
  }
  return {
    maxStateBytes: MAX_STATE_BYTES,
    attach: prefix.attach,
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
    async due(now, limit, { server, perOwner = limit } = {}) {
      const times = [String(now), String(Math.min(now, clock.now()))]
      const keys = [keyOf('due'), keyOf('expiring'), ...(server === undefined ? [keyOf('servers')] : [])]
      const [none, all] = (await run(DUE_OF_NONE, keys, [...times, String(limit)])) as [unknown, string[]]
      const servers = server === undefined ? all : [server]
      const owned = await Promise.all(servers.map((one) => dueOf(one, times, limit)))
      // The owners of tasks without a server are not known here: each counts as one.
      const unowned = toDue(none).map((task) => ({ ...task, owner: `task ${task.id}` }))
      return fairPageOf([...unowned, ...owned.flat()], limit, perOwner)
    },
    async stats(now, { server }) {
      const times = [String(now), String(Math.min(now, clock.now()))]
      const owners = await dueOwners(server, now, MAX_COUNTED_OWNERS)
      const keys = [keyOf('due'), keyOf('expiring'), ...owners.flatMap((owner) => setsOf(server, owner))]
      const [due, oldest] = (await run(COUNT, keys, times)) as [number, string | null]
      return { due: Number(due), oldestDueAt: oldest === null ? null : Number(oldest) }
    },
    async list({ server = '', after = '0', limit }) {
      if (!/^\d{1,20}$/.test(after)) throw new CursorError()
      const reply = await run(LIST, [keyOf('task', '')], [after, String(limit), server])
      const [next, found] = reply as [string, (string | unknown[])[]]
      const now = clock.now()
      const tasks = found.flatMap((id, at) =>
        typeof id === 'string' ? (fromReply(id, found[at + 1]) ?? []) : [],
      )
      return { tasks: tasks.filter((task) => !isExpired(task, now)), ...(next !== '0' && { next }) }
    },
  }
}

function toArguments({ id, owner, version, isOpen, dueAt, expiresAt, state }: StoredTask): string[] {
  const time = (at: number | null): string => (at === null ? '' : String(Math.ceil(at)))
  return [id, owner, String(version), isOpen ? '1' : '0', time(dueAt), time(expiresAt), state]
}

function toDue(reply: unknown): DueTask[] {
  const parts = reply as string[]
  return Array.from({ length: parts.length / 3 }, (_, index) => {
    const [id = '', owner = '', dueAt] = parts.slice(3 * index, 3 * index + 3)
    return { id, owner, dueAt: Number(dueAt) }
  })
}

function fromReply(id: string, reply: unknown): StoredTask | undefined {
  const [owner, version, isOpen, dueAt, expiresAt, state, server] = reply as (string | null)[]
  if (owner == null || state == null) return undefined
  const time = (at: string | null | undefined): number | null => (at ? Number(at) : null)
  return {
    id,
    owner,
    ...(server && { server }),
    version: Number(version),
    isOpen: isOpen === '1',
    dueAt: time(dueAt),
    expiresAt: time(expiresAt),
    state,
  }
}
