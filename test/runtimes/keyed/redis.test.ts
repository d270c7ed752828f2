/** The suite of every transactional store, over a real Redis, with each client library; and what Redis is left with. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IoRedisStoreClient, redisEvents, redisGrants } from '../../../adapters/redis.ts'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { startRedis } from '../node/_processes.ts'
import { startProxy } from '../tasks/stores/_proxy.ts'
import { keyedStoreSuite, newVersion } from './_suite.ts'

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

const STORES = [
  ['grants', redisGrants, 'ioredis'],
  ['grants', redisGrants, 'redis'],
  ['events', redisEvents, 'ioredis'],
] as const

for (const [entries, create, library] of STORES) {
  keyedStoreSuite(`${entries} in Redis, by ${library}`, async () => {
    const server = await startRedis()
    const { port, cut, silent, mute, stop } = await startProxy(Number(server.url.port))
    return {
      async connect({ prefix, timeoutMs = 5000 }) {
        const { client, close } = await clients[library](port)
        return { store: create(client, { prefix, onError() {}, timeoutMs }), close }
      },
      outages: { cut, silent },
      mute,
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

  it('when everything has expired, Redis has no key, and nobody has asked for any; then only the receipt', async () => {
    const store = redisGrants(client, { prefix: 'gone' })
    const expiresAt = Date.now() + 500
    await store.commit('v', [
      { key: 'a', value: '', expiresAt },
      { key: 'b', value: '', expiresAt: expiresAt + 300 },
    ])
    expect(await client.pttl('{gone:grants}:commit:v')).toBeGreaterThan(500_000)
    await eventually(async () => expect(await client.keys('{gone:*')).toEqual(['{gone:grants}:commit:v']))
  })

  it('the sets last as long as the last entry, and lose expired keys with later commits', async () => {
    const store = redisGrants(client, { prefix: 'sets' })
    const life = async () => [
      await client.pttl('{sets:grants}:names'),
      await client.pttl('{sets:grants}:ends'),
    ]
    const hour = Date.now() + 3_600_000
    const expiresAt = Date.now() + 500
    for (let commit = 0; commit < 10; commit++)
      await store.commit(
        newVersion(),
        Array.from({ length: 25 }, (_, index) => ({ key: `${commit}:${index}`, value: '', expiresAt })),
      )
    await store.commit(newVersion(), [{ key: 'an hour', value: '', expiresAt: hour }])
    for (const ms of await life()) expect(ms).toBeGreaterThan(3_500_000)
    await store.commit(newVersion(), [{ key: 'for ever', value: '' }])
    expect(await life()).toEqual([-1, -1])
    await store.commit(newVersion(), [{ key: 'for ever' }])
    for (const ms of await life()) expect(ms).toBeGreaterThan(3_500_000)
    await eventually(async () => {
      await store.commit(newVersion(), [])
      expect(await client.zrange('{sets:grants}:names', '0', '-1')).toEqual(['an hour'])
      expect(await client.zrange('{sets:grants}:ends', '0', '-1')).toEqual(['an hour'])
    })
  })

  it('a client that sends a command again, since it has lost the answer, is told what became of the first', async () => {
    const twice: IoRedisStoreClient = {
      async eval(...args) {
        await client.eval(...args)
        return client.eval(...args)
      },
    }
    const store = redisGrants(twice, { prefix: 'twice' })
    const write = { key: 'a', value: '', ifVersion: null }
    expect(await store.commit('v', [write])).toBe(true)
    expect(await store.commit('w', [write])).toBe(false)
    expect(await store.commit('x', [{ key: 'a', ifVersion: 'v' }])).toBe(true)
  })

  it('grants and events of one prefix have other entries', async () => {
    const [grants, events] = [
      redisGrants(client, { prefix: 'both' }),
      redisEvents(client, { prefix: 'both' }),
    ]
    expect(await grants.commit('v', [{ key: 'a', value: 'grant', ifVersion: null }])).toBe(true)
    expect(await events.commit('v', [{ key: 'a', value: 'event', ifVersion: null }])).toBe(true)
    expect((await grants.read('a'))?.value).toBe('grant')
    expect(await client.hget('{both:events}:entry:a', 'value')).toBe('event')
  })

  it('a prefix of the client is before its own', async () => {
    const behind = new Redis(server.url.href, { keyPrefix: 'app:' })
    try {
      const store = redisGrants(behind)
      await store.commit('v', [{ key: 'a', value: 'b' }])
      expect(await store.read('a')).toEqual({ value: 'b', version: 'v' })
      expect(await store.list({ prefix: '', limit: 9 })).toEqual({ keys: ['a'] })
      expect(await client.keys('app:*')).toContain('app:{mayfly:grants}:entry:a')
    } finally {
      behind.disconnect()
    }
  })
})

it('a cluster has all keys of a store in one slot', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-redis-'))
  const bus = String(await testPort())
  const settings = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-announce-ip', '127.0.0.1']
  const server = await startRedis(undefined, [...settings, '--dir', folder])
  const port = Number(server.url.port)
  const node = new Redis(port)
  await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await eventually(async () => expect(await node.call('CLUSTER', 'INFO')).toContain('cluster_state:ok'))
  const cluster = new Cluster([{ host: '127.0.0.1', port }])
  try {
    const store = redisGrants(cluster)
    const write = { key: 'a', value: '}{', ifVersion: null }
    expect(await store.commit('v', [write, { key: '{b}', value: '' }])).toBe(true)
    expect(await store.commit('w', [write])).toBe(false)
    expect((await store.read('a'))?.version).toBe('v')
    expect((await store.list({ prefix: '', limit: 9 })).keys).toEqual(['a', '{b}'])
  } finally {
    cluster.disconnect()
    node.disconnect()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
})
