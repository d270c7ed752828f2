/** Stores of tasks, API keys, grants and Events on DynamoDB, with `@aws-sdk/client-dynamodb` as the client, which Lambda's Node runtimes include. */

import { type Names as NamesOf, requireOptions } from '../src/definition/unknown-option.ts'
import type { OutageOptions } from '../src/events/outage.ts'
import { type DueTask, fairPageOf } from '../src/tasks/fair-page.ts'
import type { StoredTask, TaskStore } from '../src/tasks/store.ts'
import { checkTask, isExpired, isTaskId } from '../src/tasks/stored.ts'
import { requireClient } from './_bus/client.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import type { DynamoClient, DynamoValue, KeptItem } from './_dynamodb/client.ts'
import { hash, LINES, lineOf } from './_dynamodb/lines.ts'
import { listOf } from './_dynamodb/list.ts'
import { createSlots } from './_dynamodb/slots.ts'
import { openTable, type Table } from './_dynamodb/table.ts'
import { createInSlot, type Slot, updateSlot } from './_tasks/slots.ts'
import { createStoreAsk } from './_tasks/store-ask.ts'
import { createMeasuredClock } from './_tasks/store-clock.ts'

export type { DynamoClient, DynamoGrantClient, DynamoItem, DynamoValue } from './_dynamodb/client.ts'
export { type DynamoEventsOptions, dynamoEvents, dynamoEventTable } from './_dynamodb/events.ts'
export { type DynamoGrantsOptions, dynamoGrants, dynamoGrantTable } from './_dynamodb/grants.ts'
export { type DynamoKeyStoreOptions, dynamoKeyStore, dynamoKeyTable } from './_dynamodb/key-store.ts'
export { dynamoTaskTable } from './_dynamodb/table.ts'

/** Options of `dynamoTaskStore`. */
export interface DynamoTaskStoreOptions extends Pick<OutageOptions, 'timeoutMs'> {
  readonly table: string
  /** Prefix of the keys. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly prefix?: string
}

const OPTIONS: NamesOf<DynamoTaskStoreOptions> = { table: 'string', prefix: 'string', timeoutMs: [0] }

/** Maximum bytes of one task: an item has at most 409 600, including the names of its attributes. */
const MAX_STATE_BYTES = 400_000

/** Due tasks of each partition that are counted. */
const MAX_COUNTED = 100

/** Partitions for tasks without a server. */
const SHARDS = 4

/**
 * Creates a task store in a DynamoDB table, which `dynamoTaskTable` describes. Reads are consistent, and every write is conditional.
 * Due tasks are read from an index, which follows the table within about a second. With a limit, an owner has at most 3000 open tasks.
 * While DynamoDB is down, it rejects within `timeoutMs` (default 5000); a rejected write may still succeed.
 *
 * @param client `new DynamoDB({})`.
 */
export function dynamoTaskStore(client: DynamoClient, options: DynamoTaskStoreOptions): TaskStore {
  requireClient('dynamoTaskStore', client, '@aws-sdk/client-dynamodb')
  requireOptions('dynamoTaskStore', options, OPTIONS)
  const prefix = createOwnedName('dynamoTaskStore', 'prefix', options.prefix)
  const ask = createStoreAsk(options, 'DynamoDB')
  const table = openTable(client, options.table, prefix.get, ask)
  // DynamoDB has no clock that an expression could use, but its client compares the time of each answer: it notes 5 minutes and more.
  const clock = createMeasuredClock(async () => {
    await table.get('clock')
    return Date.now() + (client.config?.systemClockOffset ?? 0)
  })
  const slots = createSlots(table, clock.now)

  /** Resolves with the previous attributes; false if the condition does not hold. */
  const write = async (
    task: StoredTask,
    condition: string,
    names: Names,
    more?: Values,
  ): Promise<Slot | false> => {
    // The client repeats a request without an answer. The condition then fails although the first request succeeded.
    const writer = crypto.randomUUID()
    const values = { ':now': { N: String(clock.now()) }, ...more }
    const allNames = { '#expiresAt': 'expiresAt', ...names }
    const before = await table.put(
      keyOf(task.id),
      toItem(task, prefix.get(), writer),
      condition,
      allNames,
      values,
    )
    if (before !== false) return toSlot(before)
    const kept = await table.get(keyOf(task.id))
    return kept?.writer?.S === writer ? UNKNOWN : false
  }
  const known = new Set<string>()
  /** Without this, only the report of another server's tasks is missing. */
  const remember = async (server: string): Promise<void> => {
    if (known.has(server)) return
    known.add(server)
    const names = { '#server': `${SERVER}${server}` }
    const values = { ':since': { N: String(Date.now()) } }
    const condition = 'attribute_not_exists(#server)'
    await table.update('servers', 'SET #server = :since', condition, names, values).catch(() => {
      known.delete(server)
    })
  }
  const readServers = async (): Promise<string[]> =>
    Object.keys((await table.get('servers')) ?? {})
      .filter((name) => name.startsWith(SERVER))
      .map((name) => name.slice(SERVER.length))

  const readDue = async (now: number, limit: number, servers: readonly string[]): Promise<DueTask[]> => {
    const lines = [
      ...Array.from({ length: SHARDS }, (_, shard) => `due#${shard}`),
      ...servers.flatMap((one) => Array.from({ length: LINES }, (_, line) => lineOf(one, line))),
    ]
    return (await Promise.all(lines.map((line) => readLine(table, line, now, limit)))).flat()
  }

  const store: TaskStore = {
    maxStateBytes: MAX_STATE_BYTES,
    attach: prefix.attach,
    clockOffsetMs: clock.offsetMs,
    async create(task, maxOpen) {
      checkTask(task, MAX_STATE_BYTES)
      const condition = 'attribute_not_exists(#pk) OR #expiresAt <= :now'
      if (task.server !== undefined) await remember(task.server)
      const create = async (): Promise<boolean> => (await write(task, condition, { '#pk': 'pk' })) !== false
      return createInSlot(task, maxOpen, slots, create, store.read)
    },
    async read(id) {
      const item = isTaskId(id) ? await table.get(keyOf(id)) : undefined
      const task = item && toTask(id, item)
      return task === undefined || isExpired(task, clock.now()) ? undefined : task
    },
    async replace(task) {
      checkTask(task, MAX_STATE_BYTES)
      const condition = '#version = :previous AND (attribute_not_exists(#expiresAt) OR #expiresAt > :now)'
      const previous = { ':previous': { N: String(task.version - 1) } }
      const before = await write(task, condition, { '#version': 'version' }, previous)
      if (before) await updateSlot(before, task, slots)
      return before !== false
    },
    async due(now, limit, { server, perOwner = limit } = {}) {
      if (limit <= 0) return []
      const found = await readDue(now, limit, server === undefined ? await readServers() : [server])
      // The index does not have the owners.
      return fairPageOf(found, limit, perOwner)
    },
    async stats(now, { server }) {
      const found = await readDue(now, MAX_COUNTED, [server])
      return {
        due: found.length,
        oldestDueAt: found.map(({ dueAt }) => dueAt).sort((a, b) => a - b)[0] ?? null,
      }
    },
    ...(table.scan && { list: listOf(table.scan, keyOf(''), clock.now, toTask) }),
  }
  return store
}

type Names = Record<string, string>
type Values = Record<string, DynamoValue>

/** The previous attributes after a lost answer: the slot is written again. */
const UNKNOWN: Slot = { isOpen: true, expiresAt: Number.NaN }

/** The prefix of the attributes of one item, which has the servers. */
const SERVER = 'server#'

function keyOf(id: string): string {
  return `task#${id}`
}

/** The index contains items with both of its attributes: open tasks with a due time. */
function toItem(task: StoredTask, prefix: string, writer: string): Values {
  const { id, owner, server, version, isOpen, dueAt, expiresAt, state } = task
  const line =
    server === undefined
      ? `due#${id.charCodeAt(id.length - 1) % SHARDS}`
      : lineOf(server, hash(owner) % LINES)
  return {
    owner: { S: owner },
    version: { N: String(version) },
    isOpen: { BOOL: isOpen },
    state: { S: state },
    writer: { S: writer },
    ...(dueAt !== null && { dueAt: { N: String(dueAt) } }),
    ...(server !== undefined && { server: { S: server } }),
    ...(isOpen && dueAt !== null && { dueShard: { S: `${prefix}#${line}` } }),
    ...(expiresAt !== null && {
      expiresAt: { N: String(expiresAt) },
      ttl: { N: String(Math.ceil(expiresAt / 1000)) },
    }),
  }
}

function toTask(
  id: string,
  { owner, server, version, isOpen, dueAt, expiresAt, state }: KeptItem,
): StoredTask {
  return {
    id,
    owner: owner?.S ?? '',
    ...(server?.S !== undefined && { server: server.S }),
    version: Number(version?.N),
    isOpen: isOpen?.BOOL === true,
    dueAt: dueAt?.N === undefined ? null : Number(dueAt.N),
    expiresAt: expiresAt?.N === undefined ? null : Number(expiresAt.N),
    state: state?.S ?? '',
  }
}

function toSlot({ isOpen, expiresAt }: KeptItem): Slot {
  return { isOpen: isOpen?.BOOL === true, expiresAt: expiresAt?.N === undefined ? null : Number(expiresAt.N) }
}

async function readLine(table: Table, line: string, now: number, limit: number): Promise<DueTask[]> {
  const found: DueTask[] = []
  let start: object | undefined
  do {
    // Skips expired tasks of each page.
    const { items, next } = await table.due(line, now, limit, start)
    for (const { key, dueAt } of items) found.push({ id: key.slice(keyOf('').length), owner: line, dueAt })
    start = next
  } while (start !== undefined && found.length < limit)
  return found
}
