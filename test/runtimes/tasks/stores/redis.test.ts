/** The suite of every store, over a real Redis, with each client library; and what Redis is left with. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IoRedisScripts, redisTaskStore } from '../../../../adapters/redis.ts'
import { eventually } from '../../../_eventually.ts'
import { testPort } from '../../../_port.ts'
import { startRedis } from '../../node/_processes.ts'
import { startProxy } from './_proxy.ts'
import { newTask } from './_tasks.ts'
import { taskStoreSuite } from './suite.ts'

const clients = {
  async ioredis(port: number) {
    const client = new Redis(port, { maxRetriesPerRequest: null })
    return { client, close: () => client.disconnect() }
  },
  async redis(port: number) {
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    await client.connect()
    return { client, close: () => client.destroy() }
  },
}

for (const [library, open] of Object.entries(clients)) {
  taskStoreSuite(`Redis, by ${library}`, async () => {
    const server = await startRedis()
    const { port, cut, silent, stop } = await startProxy(Number(server.url.port))
    return {
      async connect({ prefix, ...options }) {
        const { client, close } = await open(port)
        return { store: redisTaskStore(client, { prefix, onError: () => {}, ...options }), close }
      },
      outages: { cut, silent },
      async stop() {
        stop()
        await server.stop()
      },
    }
  })
}

describe('Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  let client: Redis
  beforeAll(async () => {
    server = await startRedis()
    client = new Redis(server.url.href)
  })
  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })
  it('keeps nothing of tasks that have expired, whether or not somebody asks for them', async () => {
    const store = redisTaskStore(client, { prefix: 'mayfly' })
    const soon = Date.now() + 200
    await store.create(newTask({ expiresAt: soon, dueAt: soon }), 10)
    await store.create(newTask({ expiresAt: soon, dueAt: soon, owner: 'bob' }), 10)
    await eventually(async () => {
      expect(Date.now()).toBeGreaterThan(soon)
      // What is due is asked for by somebody, or a new task tidies up.
      await store.create(newTask({ owner: 'eve', expiresAt: Date.now() + 1 }), 10)
      expect(await client.keys('*')).toEqual([])
    })
    await store.create(newTask({ expiresAt: Date.now() + 50, dueAt: 1 }), 10)
    await eventually(async () => {
      await store.due(Date.now(), 10)
      expect(await client.keys('*')).toEqual([])
    })
  })

  it('keeps nothing of the tasks of a server that have expired, but its name', async () => {
    const prefix = 'server'
    const store = redisTaskStore(client, { prefix })
    const soon = Date.now() + 200
    await store.create(newTask({ expiresAt: soon, dueAt: soon, server: 'shop' }), 10)
    await store.create(newTask({ expiresAt: soon, dueAt: null, owner: 'bob', server: 'shop' }), 10)
    await eventually(async () => {
      expect(await store.due(Date.now(), 10, { server: 'shop' })).toEqual([])
      expect(await client.keys(`{${prefix}*`)).toEqual([`{${prefix}:tasks}:servers`])
    })
  })

  it('keeps an owner’s set as long as the last of its tasks', async () => {
    const store = redisTaskStore(client, { prefix: 'sets' })
    const life = () => client.pttl('{sets:tasks}:open:ann')
    const task = newTask({ expiresAt: Date.now() + 60_000 })
    await store.create(task, 10)
    expect(await life()).toBeLessThanOrEqual(60_000)
    await store.create(newTask({ expiresAt: Date.now() + 30_000 }), 10)
    expect(await life()).toBeGreaterThan(30_000)
    const forEver = newTask()
    await store.create(forEver, 10)
    expect(await life()).toBe(-1)
    await store.replace({ ...forEver, version: 2, isOpen: false })
    expect(await life()).toBeGreaterThan(30_000)
  })

  it('a prefix that looks like a pattern lists only its own tasks, also behind a prefix of the client', async () => {
    const behind = new Redis(server.url.href, { keyPrefix: 'app:' })
    try {
      for (const [at, prefix] of ['a*', 'a?c', '[ab]', 'a\\', 'a-z', '^', 'abc'].entries()) {
        const store = redisTaskStore(at % 2 === 0 ? client : behind, { prefix })
        const task = newTask()
        await store.create(task, 9)
        expect((await store.list!({ limit: 100 })).tasks, prefix).toEqual([task])
      }
    } finally {
      behind.disconnect()
    }
  })

  it('a client that sends a command again, since it has lost the answer, is told what became of the first', async () => {
    const twice: IoRedisScripts = {
      async eval(...args) {
        await client.eval(...args)
        return client.eval(...args)
      },
    }
    const store = redisTaskStore(twice, { prefix: 'twice' })
    const task = newTask()
    expect(await store.create(task, 1)).toBe(true)
    expect(await store.replace({ ...task, version: 2 })).toBe(true)
    expect(await store.replace({ ...task, version: 2 })).toBe(false)
    await expect(store.create(task, 9)).rejects.toThrow('already exists')
  })
})

it('a cluster has all keys of a store in one slot', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-redis-'))
  const server = await startRedis(undefined, [
    '--cluster-enabled',
    'yes',
    // Otherwise the port after the next 10,000, which another test may have.
    '--cluster-port',
    String(await testPort()),
    '--cluster-announce-ip',
    '127.0.0.1',
    '--dir',
    folder,
  ])
  const port = Number(server.url.port)
  const node = new Redis(port)
  await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await eventually(async () => expect(await node.call('CLUSTER', 'INFO')).toContain('cluster_state:ok'))
  const cluster = new Cluster([{ host: '127.0.0.1', port }])
  try {
    const store = redisTaskStore(cluster, { prefix: 'mayfly' })
    const task = { id: 'a', owner: 'ann', version: 1, isOpen: true, dueAt: 1, expiresAt: null, state: '{}' }
    expect(await store.create(task, 1)).toBe(true)
    expect(await store.create({ ...task, id: 'b' }, 1)).toBe(false)
    expect(await store.due(2, 9)).toEqual(['a'])
    expect(await store.replace({ ...task, version: 2 })).toBe(true)
    expect((await store.list!({ limit: 9 })).tasks.map(({ id }) => id)).toEqual(['a'])
  } finally {
    cluster.disconnect()
    node.disconnect()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
})
