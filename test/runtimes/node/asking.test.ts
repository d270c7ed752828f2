/**
 * Asking on two Node processes behind a proxy that sends every request to the next: they share a secret and a real Redis,
 * one through `redis`, one through `ioredis`.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askingContract } from '../../contract/asking.ts'
import { end, type Running, startProxy, startRedis } from './_processes.ts'

const PROCESS = fileURLToPath(new URL('asking-process.ts', import.meta.url))

let redis: Running
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.stop())

askingContract('two Node processes', async () => {
  const processes = await Promise.all([startProcess('redis'), startProcess('ioredis')])
  const proxy = await startProxy(processes.map(({ url }) => url))
  return {
    url: proxy.url,
    processes: processes.map(({ url }) => url),
    stop: async () => {
      await proxy.stop()
      await Promise.all(processes.map(({ child }) => end(child)))
    },
  }
})

it('nothing is left behind in Redis', async () => {
  const client = new Redis(redis.url.href)
  expect(await client.dbsize()).toBe(0)
  client.disconnect()
})

async function startProcess(library: string): Promise<{ url: URL; child: ChildProcess }> {
  const child = fork(PROCESS, [library, redis.url.href], { stdio: 'ignore' })
  const [url] = (await once(child, 'message')) as [string]
  return { url: new URL(url), child }
}
