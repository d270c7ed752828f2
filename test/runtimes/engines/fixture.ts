/** A server that uses each engine once, from inside the runtime, with a connection for each call. */

import { connect as connectNats } from '@nats-io/transport-node'
import {
  type Bus,
  type ChangeEvent,
  createMemoryBus,
  createMemoryRendezvous,
  createResource,
  createTool,
  MCPServer,
} from 'mayfly-mcp'
import { natsBus } from 'mayfly-mcp/nats'
import { postgresBus, postgresTaskStore } from 'mayfly-mcp/postgres'
import { redisBus, redisRendezvous, redisSubscriptions, redisTaskStore } from 'mayfly-mcp/redis'
import { createMemorySubscriptions, type Subscriptions } from 'mayfly-mcp/subscriptions'
import type { TaskStore } from 'mayfly-mcp/tasks'
import postgres from 'postgres'
import { createClient } from 'redis'
import * as z from 'zod'

interface Addresses {
  readonly REDIS_URL: string
  readonly DATABASE_URL: string
  readonly NATS_URL: string
}

/** Whether a change that is published arrives. */
async function reaches(bus: Bus): Promise<string> {
  const event: ChangeEvent = { type: 'resourceUpdated', uri: `pond://${crypto.randomUUID()}` }
  let heard: (uri: string) => void = () => {}
  const arrived = new Promise<string>((resolve) => {
    heard = resolve
  })
  const stop = await bus.subscribe((change) => heard(JSON.stringify(change)))
  await bus.publish(event)
  const received = await arrived
  stop()
  return received === JSON.stringify(event) ? 'works' : received
}

async function keeps(store: TaskStore): Promise<string> {
  const id = crypto.randomUUID()
  await store.read(id)
  return (await store.read(id)) === undefined ? 'works' : 'a task that nobody has made'
}

/** A legacy client of a server inside this one subscribes. */
async function subscribe(subscriptions: Subscriptions): Promise<string> {
  const pond = new MCPServer({
    id: 'pond',
    name: 'Pond',
    version: '1.0.0',
    log: false,
    secret: 'a-secret-of-the-tests-that-is-long-enough',
    bus: createMemoryBus(),
    subscriptions,
    resources: [createResource({ uri: 'pond://depth', name: 'depth', read: () => '2 m' })],
  })
  const send = (method: string, params: object, session: string | null): Promise<Response> =>
    pond.fetch(
      new Request('https://mcp.example/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session !== null && { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    )
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const opened = await send('initialize', client, null)
  await opened.text()
  const session = opened.headers.get('mcp-session-id')
  const answer = (await (await send('resources/subscribe', { uri: 'pond://depth' }, session)).json()) as {
    result?: object
  }
  return answer.result === undefined ? JSON.stringify(answer) : 'works'
}

async function withRedis(
  url: string,
  use: (publisher: Redis, subscriber: Redis) => Promise<string>,
): Promise<string> {
  const publisher = await createClient({ url }).connect()
  const subscriber = await publisher.duplicate().connect()
  try {
    return await use(publisher as Redis, subscriber as Redis)
  } finally {
    publisher.destroy()
    subscriber.destroy()
  }
}

type Redis = Awaited<ReturnType<ReturnType<typeof createClient>['connect']>>

async function withPostgres(url: string, use: (sql: postgres.Sql) => Promise<string>): Promise<string> {
  const sql = postgres(url, { fetch_types: false, onnotice: () => {} })
  try {
    return await use(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const ENGINES: { readonly [name: string]: (addresses: Addresses) => Promise<string> } = {
  redisBus: ({ REDIS_URL }) =>
    withRedis(REDIS_URL, (publisher, subscriber) =>
      reaches(redisBus({ publisher, subscriber, prefix: 'engines' })),
    ),
  redisRendezvous: ({ REDIS_URL }) =>
    withRedis(REDIS_URL, async (publisher, subscriber) => {
      const rendezvous = redisRendezvous({ publisher, subscriber })
      const waits = await rendezvous.wait('key', Date.now() + 10_000, new AbortController().signal)
      await rendezvous.deliver('key', 'works')
      return String(await waits.answer)
    }),
  redisSubscriptions: ({ REDIS_URL }) =>
    withRedis(REDIS_URL, async (client) => {
      const before = await client.keys('*')
      const answer = await subscribe(redisSubscriptions({ client }))
      const after = await client.keys('*')
      return after.length > before.length ? answer : 'nothing is stored'
    }),
  redisTaskStore: ({ REDIS_URL }) =>
    withRedis(REDIS_URL, (client) => keeps(redisTaskStore(client, { prefix: 'engines' }))),
  postgresBus: ({ DATABASE_URL }) =>
    withPostgres(DATABASE_URL, (client) => reaches(postgresBus({ client, prefix: 'engines' }))),
  postgresTaskStore: ({ DATABASE_URL }) =>
    withPostgres(DATABASE_URL, async (sql) => {
      const store = postgresTaskStore(sql, { table: 'mayfly.engines_tasks' })
      await store.migrate()
      return keeps(store)
    }),
  natsBus: async ({ NATS_URL }) => {
    const client = await connectNats({ servers: NATS_URL })
    try {
      return await reaches(natsBus({ client, prefix: 'engines' }))
    } finally {
      await client.close()
    }
  },
  createMemoryRendezvous: async () => {
    const rendezvous = createMemoryRendezvous()
    const waits = await rendezvous.wait('key', Date.now() + 10_000, new AbortController().signal)
    await rendezvous.deliver('key', 'works')
    return String(await waits.answer)
  },
  createMemorySubscriptions: () => subscribe(createMemorySubscriptions()),
}

const use = createTool({
  id: 'use',
  inputSchema: z.object({ engine: z.string() }),
  execute: ({ engine }, ctx) => ENGINES[engine]!(ctx.env as unknown as Addresses),
})

export default new MCPServer({ id: 'engines', name: 'Engines', version: '1.0.0', tools: { use } })
