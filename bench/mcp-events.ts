/**
 * What an event costs with 1, 1000 and 100,000 subscriptions, ten of which want it (or the one): the calls of the store and the rows that it
 * writes, which are what platforms charge for, and the time, of which only the ratio counts. In memory, and with a real Postgres, which this
 * starts. The endpoints answer at once, in this process. Prints a table.
 */
import { randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { postgresEvents } from '../adapters/postgres.ts'
import { staticTokens } from '../src/auth.ts'
import { jsonSchema, MCPServer } from '../src/index.ts'
import type { KeyedStore, KeyedWrite } from '../src/keyed/store.ts'
import { createEvent, createMemoryEvents, events, type PostOutcome } from '../src/mcp-events.ts'
import { modernRequest } from '../test/contract/wire.ts'
import { startPostgresServer } from '../test/runtimes/buses/_servers.ts'
import { spread } from './statistics.ts'

const SIZES = [1, 1000, 100_000]
const WANTED_BY = 10
const ROUNDS = 20
const TOKEN = 'a-token-of-thirty-two-characters'
/** A store takes 25 writes with one commit. */
const PER_COMMIT = 24

const note = createEvent({
  id: 'note.created',
  description: 'A new note',
  index: ['tag'],
  inputSchema: jsonSchema({ type: 'object', properties: { tag: { type: 'string' } } }),
  payloadSchema: jsonSchema({ type: 'object', properties: { tag: { type: 'string' } } }),
})

interface Counts {
  reads: number
  lists: number
  commits: number
  rows: number
  checks: number
  deliveries: number
}

interface Row extends Counts {
  readonly subscriptions: number
  readonly ms: number
}

const none = (): Counts => ({ reads: 0, lists: 0, commits: 0, rows: 0, checks: 0, deliveries: 0 })

function counting(store: KeyedStore, counts: Counts): KeyedStore {
  return {
    ...store,
    read(key) {
      counts.reads++
      return store.read(key)
    },
    list(options) {
      counts.lists++
      return store.list(options)
    },
    commit(version, writes) {
      counts.commits++
      const checks = writes.filter(({ isCheck }) => isCheck === true).length
      counts.checks += checks
      counts.rows += writes.length - checks
      return store.commit(version, writes)
    },
  }
}

function createServer(store: KeyedStore, counts: Counts): MCPServer {
  return new MCPServer({
    name: 'Notes',
    version: '1.0.0',
    log: false,
    auth: staticTokens([{ token: TOKEN }]),
    events: events({
      types: { note },
      store: counting(store, counts),
      deliver: {
        async post(_url, { body }): Promise<PostOutcome> {
          const { type, challenge } = JSON.parse(body)
          if (type === 'verification') return { status: 200, body: JSON.stringify({ challenge }) }
          counts.deliveries++
          return { status: 200 }
        },
      },
    }),
  })
}

async function measure(store: KeyedStore, subscriptions: number): Promise<Row> {
  const counts = none()
  const server = createServer(store, counts)
  const wanted = Math.min(WANTED_BY, subscriptions)
  for (let number = 0; number < wanted; number++) await subscribe(server, 'own', number)
  if (subscriptions > wanted)
    await fill(store, await entriesOfOther(server, store), subscriptions - wanted - 1)
  const emit = async (): Promise<void> => {
    const work: Promise<unknown>[] = []
    await server.events.emit('note.created', { tag: 'own' }, { waitUntil: (run) => void work.push(run) })
    await Promise.all(work)
  }
  await emit()
  Object.assign(counts, none())
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await emit()
    times.push(performance.now() - startedAt)
  }
  await server.close()
  if (counts.deliveries !== ROUNDS * wanted) throw new Error(`${counts.deliveries} deliveries`)
  return { ...counts, subscriptions, ms: spread(times).median }
}

async function subscribe(server: MCPServer, tag: string, number: number): Promise<void> {
  const params = {
    name: note.id,
    arguments: { tag },
    cursor: null,
    delivery: {
      mode: 'webhook',
      url: `https://${tag}-${number}.example.com/`,
      secret: `whsec_${randomBytes(32).toString('base64')}`,
    },
  }
  const headers = { authorization: `Bearer ${TOKEN}` }
  const response = await server.fetch(
    modernRequest(new URL('http://localhost/mcp'), 'events/subscribe', params, { headers }),
  )
  const { result, error } = await response.json()
  if (result === undefined) throw new Error(JSON.stringify(error))
}

const ID = /sub_[\da-f]{32}/

/** What is stored of one subscription that wants another tag. */
async function entriesOfOther(server: MCPServer, store: KeyedStore): Promise<readonly KeyedWrite[]> {
  const keys = async () => (await store.list({ prefix: '', limit: 1000 })).keys
  const before = new Set(await keys())
  await subscribe(server, 'other', 0)
  const added = (await keys()).filter((key) => !before.has(key) && ID.test(key))
  return Promise.all(added.map(async (key) => ({ key, value: (await store.read(key))!.value })))
}

/** More subscriptions like that one, without 100,000 requests. */
async function fill(store: KeyedStore, entries: readonly KeyedWrite[], count: number): Promise<void> {
  const each = Math.floor(PER_COMMIT / entries.length)
  let left = count
  const work = async (): Promise<void> => {
    while (left > 0) {
      const length = Math.min(each, left)
      left -= length
      const ids = Array.from({ length }, () => `sub_${randomBytes(16).toString('hex')}`)
      const writes = ids.flatMap((id) =>
        entries.map(({ key, value }) => ({ key: key.replace(ID, id), value })),
      )
      await store.commit(randomBytes(16).toString('hex'), writes)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

async function inPostgres(subscriptions: number): Promise<Row> {
  const engine = await startPostgresServer()
  const pool = new Pool({ connectionString: engine.url, max: 10 })
  try {
    return await measure(postgresEvents(pool, { createTable: true }), subscriptions)
  } finally {
    await pool.end()
    await engine.stop()
  }
}

function print(name: string, rows: readonly Row[]): void {
  console.log(`\n${name}\n
| subscriptions | deliveries an event | a delivery: reads | lists | commits | rows written | compared | time of an event |
|---|---|---|---|---|---|---|---|`)
  for (const { subscriptions, deliveries, reads, lists, commits, rows: written, checks, ms } of rows) {
    const each = [reads, lists, commits, written, checks].map((count) => (count / deliveries).toFixed(1))
    const times = (ms / rows[0]!.ms).toFixed(1)
    console.log(
      `| ${subscriptions} | ${deliveries / ROUNDS} | ${each.join(' | ')} | × ${times} (${ms.toFixed(1)} ms) |`,
    )
  }
}

const ENGINES: { readonly [name: string]: (subscriptions: number) => Promise<Row> } = {
  'In memory': (subscriptions) => measure(createMemoryEvents(), subscriptions),
  Postgres: inPostgres,
}
for (const [name, run] of Object.entries(ENGINES)) {
  const rows: Row[] = []
  for (const size of SIZES) rows.push(await run(size))
  print(name, rows)
}
