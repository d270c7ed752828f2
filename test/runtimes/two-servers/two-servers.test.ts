/** Two servers, and two stages of one, on one real Postgres, Redis, NATS and DynamoDB table, with default names: nothing crosses. */
import { connect } from '@nats-io/transport-node'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { dynamoTaskStore } from '../../../adapters/dynamodb.ts'
import { natsBus } from '../../../adapters/nats.ts'
import { serve } from '../../../adapters/node.ts'
import { postgresBus, postgresTaskStore } from '../../../adapters/postgres.ts'
import { redisBus, redisRateLimiter, redisSubscriptions, redisTaskStore } from '../../../adapters/redis.ts'
import { type Bus, createResource, createTool, MCPServer } from '../../../src/index.ts'
import { createTasks, type TaskStore } from '../../../src/tasks.ts'
import { connectLegacyListener } from '../_legacy-listener.ts'
import { type BusServer, startNatsServer, startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { startDynamo } from '../tasks/_backends.ts'
import { TaskWire } from '../tasks/_wire.ts'

vi.spyOn(console, 'error').mockImplementation(() => {})

let redis: BusServer
let database: BusServer
let nats: BusServer
let dynamo: Awaited<ReturnType<typeof startDynamo>>
beforeAll(async () => {
  ;[redis, database, nats, dynamo] = await Promise.all([
    startRedisServer(),
    startPostgresServer(),
    startNatsServer(),
    startDynamo(),
  ])
}, 120_000)
afterAll(async () => {
  await Promise.all([redis?.stop(), database?.stop(), nats?.stop(), dynamo?.stop()])
})

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

function toRedis(): Redis {
  const client = new Redis(redis.url)
  open.push(() => client.disconnect())
  return client
}

function toPostgres(): Pool {
  const pool = new Pool({ connectionString: database.url })
  open.push(() => pool.end())
  return pool
}

/** By what the two share. `name`: the name that both give it. */
const STORES: { readonly [place: string]: (name?: string) => TaskStore } = {
  Postgres: (table) =>
    postgresTaskStore(toPostgres(), { createTable: true, ...(table !== undefined && { table }) }),
  Redis: (prefix) => redisTaskStore(toRedis(), prefix === undefined ? {} : { prefix }),
  DynamoDB: (prefix) =>
    dynamoTaskStore(dynamo.connect(), { table: 'tasks', ...(prefix !== undefined && { prefix }) }),
}
const BUSES: { readonly [place: string]: () => Bus | Promise<Bus> } = {
  async NATS() {
    const client = await connect({ servers: nats.url })
    open.push(() => client.close())
    return natsBus({ client })
  },
  Postgres: () => postgresBus({ client: toPostgres() }),
  Redis: () => redisBus({ publisher: toRedis(), subscriber: toRedis() }),
}

interface Deployed {
  readonly server: MCPServer
  readonly wire: TaskWire
  readonly url: URL
  readonly errors: string[]
}

/** Its tool says which deployment ran it. */
async function deploy(
  [id, stage]: readonly [string, string | undefined],
  parts: { readonly store?: TaskStore; readonly bus?: Bus; readonly calls?: number },
): Promise<Deployed> {
  const errors: string[] = []
  const job = createTool({
    id: 'job',
    task: { mode: 'required', pollIntervalMs: 50 },
    execute: async (_input, ctx) => {
      await ctx.sleep('a moment', 1)
      await ctx.waitFor('go')
      return `${id} ${stage}`
    },
  })
  const { store, bus, calls } = parts
  const server = new MCPServer({
    id,
    name: id,
    version: '1.0.0',
    log: false,
    onError: (error) => errors.push(String(error)),
    secret: 'a secret that both have, since it is one project',
    tools: store === undefined ? {} : { job },
    ...(store !== undefined && { tasks: createTasks({ store }) }),
    ...(bus !== undefined && { bus, subscriptions: redisSubscriptions({ client: toRedis() }) }),
    ...(calls !== undefined && {
      http: {
        trustProxy: true,
        rateLimiter: redisRateLimiter({ client: toRedis(), calls, windowMs: 3_600_000 }),
      },
    }),
    resources: [createResource({ uriTemplate: 'note://{name}', read: () => 'nothing' })],
  })
  const served = await serve(server, { port: 0, env: { MAYFLY_STAGE: stage } })
  open.push(() => served.close())
  return { server, errors, url: new URL(served.url), wire: new TaskWire(served.url) }
}

const PAIRS = [
  ['two servers', ['shop', undefined], ['bank', undefined]],
  ['two stages', ['shop', undefined], ['shop', 'staging']],
] as const

describe.each(PAIRS)('%s', (_name, one, other) => {
  it.each(Object.keys(STORES))('tasks in one %s: each runs, sends to and shows its own', async (place) => {
    const [first, second] = [
      await deploy(one, { store: STORES[place]!() }),
      await deploy(other, { store: STORES[place]!() }),
    ]
    const { taskId } = await first.wire.call('job', {})
    const { taskId: theirs } = await second.wire.call('job', {})

    expect(await second.server.tasks.run(taskId)).toBeNull()
    expect(await second.server.tasks.send(taskId, 'go')).toBe(false)
    await expect(second.wire.get(taskId).then((task) => task.status)).rejects.toThrow()
    for (const [{ server, wire }, id, who] of [
      [first, taskId, one],
      [second, theirs, other],
    ] as const) {
      expect(await server.tasks.send(id, 'go')).toBe(true)
      await expect.poll(() => server.tasks.runDue(), { timeout: 20_000 }).toBe(0)
      const { result } = await wire.until(id, 'completed')
      expect(result!.content[0]!.text).toBe(`${who[0]} ${who[1]}`)
    }
    expect([...first.errors, ...second.errors]).toEqual([])
  })

  it.each(Object.keys(STORES))(
    'one %s with a name that both give it: the cron of one leaves the tasks of the other alone, and says so once',
    async (place) => {
      const name = `shared_${one.join('')}_${other.join('')}`
      const [first, second] = [
        await deploy(one, { store: STORES[place]!(name) }),
        await deploy(other, { store: STORES[place]!(name) }),
      ]
      await second.wire.call('job', {})
      const { taskId } = await first.wire.call('job', {})
      await first.server.tasks.send(taskId, 'go')

      for (let turn = 0; turn < 3; turn++) await second.server.tasks.run(taskId)
      expect(second.errors.filter((error) => error.includes('leaves them alone'))).toHaveLength(1)
      await expect.poll(() => first.server.tasks.runDue(), { timeout: 20_000 }).toBe(0)
      const { result } = await first.wire.until(taskId, 'completed')
      expect(result!.content[0]!.text).toBe(`${one[0]} ${one[1]}`)
    },
  )

  it.each(Object.keys(BUSES))('changes over one %s, and subscriptions in one Redis', async (place) => {
    const [first, second] = [
      await deploy(one, { bus: await BUSES[place]!() }),
      await deploy(other, { bus: await BUSES[place]!() }),
    ]
    await using theirs = await connectLegacyListener(second.url)
    await using ours = await connectLegacyListener(first.url)
    for (const { client } of [theirs, ours])
      for (const uri of ['note://1', 'note://2']) await client.subscribeResource({ uri })
    theirs.heard.length = ours.heard.length = 0

    await first.server.resources.notifyUpdated({ uri: 'note://1' })
    await expect.poll(() => ours.heard, { timeout: 10_000 }).toEqual(['note://1'])
    // What crossed would have come before.
    await second.server.resources.notifyUpdated({ uri: 'note://2' })
    await expect.poll(() => theirs.heard, { timeout: 10_000 }).toEqual(['note://2'])
    expect(ours.heard).toEqual(['note://1'])

    const keys = await toRedis().keys('*subscriptions*')
    const of = (name: string) => keys.filter((key) => key.replace('{', '').startsWith(`${name}:`))
    const nameOf = ([id, stage]: readonly [string, string | undefined]) =>
      stage === undefined ? `mayfly_${id}` : `mayfly_${id}__${stage}`
    expect(of(nameOf(one))).not.toEqual([])
    expect(of(nameOf(other))).not.toEqual([])
  })

  it('rate limits in one Redis: who used up one may still call the other', async () => {
    await toRedis().flushall()
    const [first, second] = [await deploy(one, { calls: 2 }), await deploy(other, { calls: 2 })]
    const call = async ({ url }: Deployed): Promise<number> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-forwarded-for': '203.0.113.7',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      })
      await response.text()
      return response.status
    }
    const of = async (deployed: Deployed) => [
      await call(deployed),
      await call(deployed),
      await call(deployed),
    ]
    expect(await of(first)).toEqual([200, 200, 429])
    expect(await of(second)).toEqual([200, 200, 429])
  })
})
