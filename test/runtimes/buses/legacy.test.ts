/**
 * Legacy clients of two stateless Node processes behind a proxy that sends every request to the next: they share a secret and a real
 * Redis, one through `redis`, one through `ioredis`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { connectLegacyListener } from '../_legacy-listener.ts'
import { end, type Running, startProxy, startRedis } from '../node/_processes.ts'

const PROCESS = fileURLToPath(new URL('legacy-process.ts', import.meta.url))
const LISTS = 'notifications/tools/list_changed'

let redis: Running
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.stop())

async function startProcess(
  library: string,
  maxListenMs: number,
): Promise<{ url: URL; child: ChildProcess }> {
  const child = fork(PROCESS, [library, redis.url.href, String(maxListenMs)], { stdio: 'ignore' })
  const [url] = (await once(child, 'message')) as [string]
  return { url: new URL(url), child }
}

async function start(maxListenMs = 300_000) {
  const libraries = ['redis', 'ioredis']
  const processes = await Promise.all(libraries.map((library) => startProcess(library, maxListenMs)))
  const proxy = await startProxy(processes.map(({ url }) => url))
  return {
    url: proxy.url,
    async [Symbol.asyncDispose]() {
      await proxy.stop()
      await Promise.all(processes.map(({ child }) => end(child)))
    },
  }
}

it('the official client hears of what it subscribed to, wherever each request was served; DELETE ends it [legacy.changes]', async () => {
  await using servers = await start()
  await using listeners = {
    all: await Promise.all([1, 2].map(() => connectLegacyListener(servers.url))),
    [Symbol.asyncDispose]: async () => {
      for (const { client } of listeners.all) await client.close()
    },
  }
  const [one, other] = listeners.all as [(typeof listeners.all)[0], (typeof listeners.all)[0]]
  expect(one.client.getServerCapabilities()).toMatchObject({
    tools: { listChanged: true },
    resources: { subscribe: true },
  })

  for (let time = 0; time < 2; time++) {
    one.heard.length = 0
    other.heard.length = 0
    await one.client.subscribeResource({ uri: 'note://1' })
    await other.client.subscribeResource({ uri: 'note://2' })
    await one.client.callTool({ name: 'touch' })
    await eventually(() => expect(one.heard).toEqual(['note://1', LISTS]))
    await eventually(() => expect(other.heard).toEqual(['note://2', LISTS]))
    // So that the next request of each is another process'.
    await one.client.ping()
  }

  await one.client.unsubscribeResource({ uri: 'note://1' })
  one.heard.length = 0
  await other.client.callTool({ name: 'touch' })
  await eventually(() => expect(one.heard).toEqual([LISTS]))

  const client = new Redis(redis.url.href)
  expect(await client.pttl((await client.keys('*'))[0]!)).toBeGreaterThan(0)
  for (const listener of listeners.all) await listener.end()
  expect(await client.keys('*')).toEqual([])
  client.disconnect()
})

it('its stream ends again and again, and opens anywhere: nothing is missed [legacy.changes] [listen.gap]', async () => {
  await using servers = await start(500)
  await using listener = await connectLegacyListener(servers.url)
  await listener.client.subscribeResource({ uri: 'note://1' })

  for (let time = 0; time < 20; time++) {
    listener.heard.length = 0
    await listener.client.callTool({ name: 'touch' })
    await eventually(() => expect(listener.heard).toContain('note://1'))
    await new Promise((resolve) => setTimeout(resolve, 100 + 13 * time))
  }
  expect(listener.heard).not.toContain('note://2')
})
