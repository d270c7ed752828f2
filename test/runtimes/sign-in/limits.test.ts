/** What strangers can store, over real engines: several processes count together, at once, and what is begun is in none of them. */
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresGrants } from '../../../adapters/postgres.ts'
import { redisGrants } from '../../../adapters/redis.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../src/sign-in/store/store.ts'
import {
  authorizeUrl,
  connected,
  createWorld,
  exchange,
  LOOPBACK,
  leave,
  refresh,
  registered,
  signInAs,
  type Tokens,
} from '../../unit/sign-in/_sign-in.ts'
import { startPostgresServer } from '../buses/_servers.ts'
import { listAll, unique } from '../keyed/_suite.ts'
import { startRedis } from '../node/_processes.ts'

interface Engine {
  /** As another process: what has one name is seen by all. */
  connect(name: string): GrantStore
  stop(): Promise<void>
}

const ENGINES: { readonly [name: string]: () => Promise<Engine> } = {
  async memory() {
    const stores = new Map<string, GrantStore>()
    return {
      connect(name) {
        const store = stores.get(name) ?? createMemoryGrants()
        stores.set(name, store)
        return store
      },
      async stop() {},
    }
  },
  async Redis() {
    const server = await startRedis()
    const clients: Redis[] = []
    return {
      connect(name) {
        const client = new Redis(server.url.href)
        clients.push(client)
        return redisGrants(client, { prefix: name })
      },
      async stop() {
        for (const client of clients) client.disconnect()
        await server.stop()
      },
    }
  },
  async Postgres() {
    const server = await startPostgresServer()
    const pools: Pool[] = []
    return {
      connect(name) {
        const pool = new Pool({ connectionString: server.url, max: 5 })
        pools.push(pool)
        return postgresGrants(pool, { table: name, createTable: true })
      },
      async stop() {
        for (const pool of pools) await pool.end()
        await server.stop()
      },
    }
  },
}

const HOST = 'https://client.example'
const documents = () => {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(String(input))
    const grants = { grant_types: ['authorization_code', 'refresh_token'] }
    const names = { client_id: String(input), client_name: 'Documented', redirect_uris: [LOOPBACK] }
    return Response.json({ ...names, ...grants })
  }
  return { asked, fetch }
}

describe.each(Object.entries(ENGINES))('limits in %s', { timeout: 120_000 }, (_name, start) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await start()
  }, 300_000)
  afterAll(() => engine?.stop())
  const processes = (count: number, options: object = {}) => {
    const name = unique()
    return Array.from({ length: count }, () => createWorld({ store: engine.connect(name), ...options }))
  }

  it('registrations of one address at several processes: 30 are stored, all are answered and sign in', async () => {
    const worlds = processes(3, { address: '203.0.113.7' })
    const ids: string[] = []
    for (let count = 0; count < 36; count++) ids.push(await registered(worlds[count % 3]!))
    const sealed = ids.filter((id) => id.length > 100)
    expect(sealed).toHaveLength(6)
    expect((await listAll(worlds[0]!.store, '')).filter((key) => key.includes(':client:'))).toHaveLength(30)
    for (const clientId of [ids[0]!, sealed[0]!]) {
      const { tokens } = await connected(worlds[1]!, { clientId })
      expect((await refresh(worlds[2]!, tokens.refresh_token, clientId)).status).toBe(200)
    }
  })

  it('12 addresses of one network at once, at three processes, all register', async () => {
    const name = unique()
    const stores = Array.from({ length: 3 }, () => engine.connect(name))
    await stores[0]!.read('ready')
    const all = Array.from({ length: 12 }, (_, number) =>
      registered(createWorld({ store: stores[number % 3]!, address: `203.0.113.${number}` })),
    )
    expect(new Set(await Promise.all(all)).size).toBe(12)
  })

  it('300 requests to sign in are no entries, and a state is used once by three processes', async () => {
    const worlds = processes(3)
    const clientId = await registered(worlds[0]!)
    const before = await listAll(worlds[0]!.store, '')
    const url = await authorizeUrl({ clientId, query: { state: 'x'.repeat(2000) } })
    for (let count = 0; count < 300; count++) expect((await worlds[count % 3]!.get(url)).status).toBe(303)
    expect(await listAll(worlds[0]!.store, '')).toEqual(before)
    const { jar, callback } = await leave(worlds[0]!, { clientId })
    const returned = await Promise.all(
      Array.from({ length: 9 }, (_, number) => worlds[number % 3]!.get(callback(), jar.headers)),
    )
    expect(returned.map(({ status }) => status).sort()).toEqual([303, ...Array(8).fill(400)])
  })

  it('a client with a document that is used is asked for by a network that has spent its share', async () => {
    const { asked, fetch } = documents()
    const [here, there] = processes(2, { fetch, address: '203.0.113.7' })
    const clientId = `${HOST}/used.json`
    const code = (await signInAs(here!, { clientId })).searchParams.get('code') ?? ''
    const tokens = (await (await exchange(here!, code, clientId)).json()) as Tokens
    for (let count = 0; count < 35; count++)
      await there!.get(await authorizeUrl({ clientId: `${HOST}/${count}.json` }))
    expect(asked).toHaveLength(30)
    // As after a week: the document is forgotten, and that it is used is not.
    const { store } = here!
    const found = await listAll(store, '')
    await store.commit(
      crypto.randomUUID(),
      found
        .filter((key) => key.includes(':document:'))
        .slice(0, 25)
        .map((key) => ({ key })),
    )
    await store.commit(
      crypto.randomUUID(),
      found
        .filter((key) => key.includes(':document:'))
        .slice(25)
        .map((key) => ({ key })),
    )
    expect((await refresh(there!, tokens.refresh_token, clientId)).status).toBe(200)
    expect(asked.at(-1)).toBe(clientId)
    expect(asked).toHaveLength(31)
  })
})
