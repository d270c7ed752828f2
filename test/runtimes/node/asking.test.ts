/**
 * Asking on two Node processes behind a proxy that sends every request to the next: they share a secret and a real Redis,
 * one through `redis`, one through `ioredis`.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, expect, it } from 'vitest'
import { askingContract } from '../../contract/asking.ts'

const PROCESS = fileURLToPath(new URL('asking-process.ts', import.meta.url))

let redisUrl = ''

askingContract('two Node processes', async () => {
  const redis = await startRedis()
  const processes = await Promise.all([startProcess('redis', redis.url), startProcess('ioredis', redis.url)])
  const proxy = await startProxy(processes.map(({ url }) => url))
  redisUrl = redis.url
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
  const client = new Redis(redisUrl)
  expect(await client.dbsize()).toBe(0)
  client.disconnect()
})

const started: ChildProcess[] = []
afterAll(() => Promise.all(started.map(end)))

async function startRedis(): Promise<{ url: string }> {
  const port = await freePort()
  const child = spawn('redis-server', [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
  ])
  started.push(child)
  await new Promise<void>((ready, fail) => {
    child.once('error', () => fail(new Error('redis-server is missing: apt-get install -y redis-server')))
    child.stdout.setEncoding('utf8').on('data', (output: string) => {
      if (output.includes('Ready to accept connections')) ready()
    })
  })
  return { url: `redis://127.0.0.1:${port}` }
}

async function startProcess(library: string, redis: string): Promise<{ url: URL; child: ChildProcess }> {
  const child = fork(PROCESS, [library, redis], { stdio: 'ignore' })
  const [url] = (await once(child, 'message')) as [string]
  return { url: new URL(url), child }
}

/** Sends each request to the next process, and streams both ways. */
async function startProxy(targets: readonly URL[]): Promise<{ url: URL; stop: () => Promise<void> }> {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const { hostname, port } = targets[turn++ % targets.length]!
    const { method, url: path, headers } = incoming
    const forwarded = request({ hostname, port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    incoming.pipe(forwarded)
    outgoing.once('close', () => forwarded.destroy())
    forwarded.once('error', () => outgoing.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((done) => probe.close(done))
  return port
}
