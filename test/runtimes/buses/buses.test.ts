/** The suite of every bus, over real servers and with each client library. */
import { connect as connectNats } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import postgres from 'postgres'
import { createClient } from 'redis'
import { natsBus } from '../../../adapters/nats.ts'
import { postgresBus } from '../../../adapters/postgres.ts'
import { redisBus } from '../../../adapters/redis.ts'
import { createMemoryBus } from '../../../src/index.ts'
import { type BusServer, startNatsServer, startPostgresServer, startRedisServer } from './_servers.ts'
import { type Broker, busSuite, type Instance } from './suite.ts'

const LIMIT = { timeoutMs: 3000 }

/** The part of a broker that its server is. */
function outageOf(server: BusServer): Pick<Broker, 'outage' | 'stop'> {
  return { outage: { begin: () => server.kill(), end: () => server.start() }, stop: () => server.stop() }
}

busSuite('memory', async () => {
  const bus = createMemoryBus()
  return { connect: async () => ({ bus, close: () => {} }), stop: () => {} }
})

/** Without a server, which would name the channel. */
const NAMED = { prefix: 'mayfly' }

const redisClients = {
  async ioredis(url: string) {
    const clients = { publisher: new Redis(url), subscriber: new Redis(url) }
    const close = () => [clients.publisher.disconnect(), clients.subscriber.disconnect()]
    return { ...clients, close }
  },
  async redis(url: string) {
    const publisher = await createClient({ url }).connect()
    const subscriber = await publisher.duplicate().connect()
    return { publisher, subscriber, close: () => [publisher.destroy(), subscriber.destroy()] }
  },
}

for (const [library, connect] of Object.entries(redisClients)) {
  busSuite(`Redis, by ${library}`, async () => {
    const server = await startRedisServer()
    return {
      ...outageOf(server),
      async connect(onError) {
        const { close, ...clients } = await connect(server.url)
        return { bus: redisBus({ ...clients, ...NAMED, ...LIMIT, onError }), close }
      },
      async inject(text) {
        const client = new Redis(server.url)
        await client.publish('mayfly:changes', text)
        client.disconnect()
      },
    }
  })
}

const postgresClients = {
  postgres(url: string) {
    const client = postgres(url, { onnotice: () => {}, fetch_types: false })
    return { client, close: () => client.end({ timeout: 1 }) }
  },
  pg(url: string) {
    const client = new Pool({ connectionString: url, max: 4 })
    return { client, close: () => client.end() }
  },
}

for (const [library, connect] of Object.entries(postgresClients)) {
  busSuite(`Postgres, by ${library}`, async () => {
    const server = await startPostgresServer()
    return {
      ...outageOf(server),
      async connect(onError): Promise<Instance> {
        const { client, close } = connect(server.url)
        return { bus: postgresBus({ client, ...NAMED, ...LIMIT, onError }), close }
      },
      async inject(text) {
        const pool = new Pool({ connectionString: server.url })
        await pool.query('SELECT pg_notify($1, $2)', ['mayfly_changes', text])
        await pool.end()
      },
    }
  })
}

busSuite('NATS', async () => {
  const server = await startNatsServer()
  return {
    ...outageOf(server),
    async connect(onError) {
      const client = await connectNats({
        servers: server.url,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 200,
      })
      return { bus: natsBus({ client, ...NAMED, ...LIMIT, onError }), close: () => client.close() }
    },
    async inject(text) {
      const client = await connectNats({ servers: server.url })
      client.publish('mayfly.changes', text)
      await client.drain()
    },
  }
})
