/** The real engines: connections to places of their own in one server. */
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { dynamoEvents } from '../../../adapters/dynamodb.ts'
import { postgresEvents } from '../../../adapters/postgres.ts'
import { redisEvents } from '../../../adapters/redis.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { startPostgresServer } from '../buses/_servers.ts'
import { startWorkerd, urlOf } from '../cloudflare/_workerd.ts'
import { connectDynamo, startDynamo, TABLE } from '../keyed/_dynamo.ts'
import { storeInWorker } from '../keyed/_workerd.ts'
import { startRedis } from '../node/_processes.ts'

export interface Engine {
  /** With a connection of its own. Stores with the same place have the same entries. */
  connect(place: string): KeyedStore
  stop(): Promise<void>
}

const TIMEOUT_MS = 20_000

export const ENGINES: { readonly [engine: string]: () => Promise<Engine> } = {
  async Redis() {
    const server = await startRedis()
    const clients: Redis[] = []
    return {
      connect(prefix) {
        const client = new Redis(Number(server.url.port), { maxRetriesPerRequest: null })
        clients.push(client)
        return redisEvents(client, { prefix, timeoutMs: TIMEOUT_MS, onError() {} })
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
      connect(table) {
        const pool = new Pool({ connectionString: server.url, max: 5 })
        pools.push(pool)
        return postgresEvents(pool, { table, createTable: true, timeoutMs: TIMEOUT_MS, onError() {} })
      },
      async stop() {
        await Promise.all(pools.map((pool) => pool.end()))
        await server.stop()
      },
    }
  },
  async DynamoDB() {
    const dynamo = await startDynamo()
    const clients: ReturnType<typeof connectDynamo>[] = []
    return {
      connect(prefix) {
        const client = connectDynamo(dynamo.port)
        clients.push(client)
        return dynamoEvents(client, { table: TABLE, prefix, timeoutMs: TIMEOUT_MS })
      },
      async stop() {
        for (const client of clients) client.destroy()
        await dynamo.stop()
      },
    }
  },
  async 'Durable Object'() {
    const entry = fileURLToPath(new URL('../cloudflare/keyed/worker.ts', import.meta.url))
    const workerd = await startWorkerd({ entryPoints: [entry] }, ['Grants', 'Events', 'Other'])
    const url = await urlOf(workerd)
    return {
      connect: (name) => storeInWorker(url, { object: 'Events', name, timeoutMs: TIMEOUT_MS }),
      stop: () => workerd.dispose(),
    }
  },
}

/** The entries whose keys begin so: faster than a new table. */
export function within(store: KeyedStore, prefix: string): KeyedStore {
  return {
    ...store,
    read: (key) => store.read(prefix + key),
    commit: (version, writes) =>
      store.commit(
        version,
        writes.map((write) => ({ ...write, key: prefix + write.key })),
      ),
    async list({ after, ...options }) {
      const { keys, next } = await store.list({
        ...options,
        prefix: prefix + options.prefix,
        ...(after !== undefined && { after: prefix + after }),
      })
      const own = keys.map((key) => key.slice(prefix.length))
      return { keys: own, ...(next !== undefined && { next: next.slice(prefix.length) }) }
    },
  }
}
