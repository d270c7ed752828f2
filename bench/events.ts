/**
 * Change notifications between two Node processes behind a proxy that sends each request to the next, with each bus over its real
 * server: how long an event takes to the other process' subscriber, whether any of 10 000 is lost, and how soon streams hear again after
 * the bus' server has crashed and is back. Prints a table; the servers are Debian's.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createParser } from 'eventsource-parser'
import { modernRequest } from '../test/contract/wire.ts'
import {
  type BusServer,
  startNatsServer,
  startPostgresServer,
  startRedisServer,
} from '../test/runtimes/buses/_servers.ts'
import { end, startProxy } from '../test/runtimes/node/_processes.ts'

const SERVERS: readonly (readonly [bus: string, start: () => Promise<BusServer>])[] = [
  ['Redis (redis)', startRedisServer],
  ['Redis (ioredis)', startRedisServer],
  ['Postgres (postgres)', startPostgresServer],
  ['Postgres (pg)', startPostgresServer],
  ['NATS', startNatsServer],
]

const PROCESS = fileURLToPath(new URL('events-process.ts', import.meta.url))
const ROUNDS = 200
const EVENTS = 10_000
/** A filter names at most 1000 URIs. */
const URIS_A_STREAM = 1000
const PATIENCE_MS = 60_000

interface Stream {
  /** When each URI was heard first, in milliseconds. */
  readonly heard: Map<string, number>
  close(): void
}

/** Opens a `subscriptions/listen` stream, and resolves when it is acknowledged. */
async function listen(url: URL, uris: readonly string[]): Promise<Stream> {
  const heard = new Map<string, number>()
  const over = new AbortController()
  const params = { notifications: { resourceSubscriptions: uris } }
  const response = await fetch(modernRequest(url, 'subscriptions/listen', params), { signal: over.signal })
  let acknowledge: (() => void) | undefined
  const acknowledged = new Promise<void>((resolve) => {
    acknowledge = resolve
  })
  const parser = createParser({
    onEvent: ({ data }) => {
      const { method, params } = JSON.parse(data) as { method?: string; params: { uri?: string } }
      if (method?.endsWith('/acknowledged')) acknowledge?.()
      if (params?.uri !== undefined && !heard.has(params.uri)) heard.set(params.uri, performance.now())
    },
  })
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const bytes of response.body!) parser.feed(decoder.decode(bytes, { stream: true }))
  }
  read().catch(() => {}) // aborted
  await acknowledged
  return { heard, close: () => over.abort() }
}

async function publish(url: URL, uris: readonly string[]): Promise<void> {
  const response = await fetch(modernRequest(url, 'tools/call', { name: 'publish', arguments: { uris } }))
  const { result } = (await response.json()) as { result?: { isError?: boolean } }
  if (result === undefined || result.isError) throw new Error('The tool that publishes has failed.')
}

async function until(claim: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!claim() && performance.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** Milliseconds from publishing on one process to the subscriber of the other. */
async function latencies(here: URL, there: URL): Promise<number[]> {
  const uris = Array.from({ length: ROUNDS }, (_, index) => `n://latency/${index}`)
  const { heard, close } = await listen(there, uris)
  const samples: number[] = []
  for (const uri of uris) {
    const startedAt = performance.now()
    await publish(here, [uri])
    await until(() => heard.has(uri))
    samples.push(heard.get(uri)! - startedAt)
  }
  close()
  return samples.sort((a, b) => a - b)
}

/** How many of the events did not reach a stream of each process: the proxy spreads the streams, and the calls that publish. */
async function losses(proxy: URL): Promise<number> {
  const streams: Stream[] = []
  const all = Array.from({ length: EVENTS }, (_, index) => `n://many/${index}`)
  const parts = Array.from({ length: EVENTS / URIS_A_STREAM }, (_, index) =>
    all.slice(index * URIS_A_STREAM, (index + 1) * URIS_A_STREAM),
  )
  for (const part of parts)
    for (let process = 0; process < 2; process++) streams.push(await listen(proxy, part))
  for (let index = 0; index < EVENTS; index += 100) await publish(proxy, all.slice(index, index + 100))
  const arrived = () => streams.reduce((sum, { heard }) => sum + heard.size, 0)
  await until(() => arrived() === 2 * EVENTS)
  for (const { close } of streams) close()
  return 2 * EVENTS - arrived()
}

/** Milliseconds from the moment that the bus' server is back to the first event on a stream that was open all the time. */
async function recovery(server: BusServer, here: URL, there: URL): Promise<number> {
  const uris = Array.from({ length: URIS_A_STREAM }, (_, index) => `n://after/${index}`)
  const { heard, close } = await listen(there, ['n://gap', ...uris.slice(1)])
  await server.kill()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  await server.start()
  const backAt = performance.now()
  // A gap names all URIs of the filter, and is what a client acts on.
  await until(() => heard.has('n://gap'))
  const recoveredAt = heard.get('n://gap') ?? Number.NaN
  // What is published now arrives again, too; the publishing client may need a moment longer.
  heard.clear()
  for (let attempt = 0; attempt < 100 && !heard.has('n://gap'); attempt++) {
    await publish(here, ['n://gap'])
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  close()
  return heard.has('n://gap') ? recoveredAt - backAt : Number.NaN
}

async function startProcess(bus: string, url: string): Promise<{ url: URL; child: ChildProcess }> {
  const child = fork(PROCESS, [bus, url], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [served] = (await once(child, 'message')) as [string]
  return { url: new URL(served), child }
}

console.log('| bus | median ms | 95 % | lost of 10 000 × 2 | heard again after a crash, ms |')
console.log('|---|---|---|---|---|')
for (const [bus, start] of SERVERS) {
  const server = await start()
  const processes = await Promise.all([startProcess(bus, server.url), startProcess(bus, server.url)])
  const [here, there] = processes.map(({ url }) => url) as [URL, URL]
  const proxy = await startProxy([here, there])
  const samples = await latencies(here, there)
  const at = (share: number) => samples[Math.floor(samples.length * share)]!.toFixed(1)
  const lost = await losses(proxy.url)
  const recovered = await recovery(server, here, there)
  console.log(`| ${bus} | ${at(0.5)} | ${at(0.95)} | ${lost} | ${recovered.toFixed(0)} |`)
  await proxy.stop()
  for (const { child } of processes) await end(child)
  await server.stop()
}
