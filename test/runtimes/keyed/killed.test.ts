/** Processes that are killed with `kill -9` in the middle of commits, on real stores: each commit is made as a whole or not at all. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { expect, it } from 'vitest'
import { dynamoGrants } from '../../../adapters/dynamodb.ts'
import { postgresGrants } from '../../../adapters/postgres.ts'
import { redisGrants } from '../../../adapters/redis.ts'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { addOne, countOf } from './_adding.ts'
import { connectDynamo, startDynamo, TABLE } from './_dynamo.ts'
import { storeInWorker } from './_workerd.ts'

const KILLS = 12

interface Place {
  readonly url: string
  readonly store: KeyedStore
  stop(): Promise<unknown>
}

const PLACES: { readonly [kind: string]: () => Promise<Place> } = {
  async Postgres() {
    const server = await startPostgresServer()
    const pool = new Pool({ connectionString: server.url }).on('connect', (client) =>
      client.on('error', () => {}),
    )
    const store = postgresGrants(pool, { table: 'killed' })
    await store.migrate()
    const stop = () => Promise.allSettled([pool.end(), server.stop()])
    return { url: server.url, store, stop }
  },
  async Redis() {
    const server = await startRedisServer()
    const client = new Redis(server.url)
    const stop = async () => {
      client.disconnect()
      await server.stop()
    }
    return { url: server.url, store: redisGrants(client), stop }
  },
  async DynamoDB() {
    const dynamo = await startDynamo()
    const client = connectDynamo(dynamo.port)
    const stop = async () => {
      client.destroy()
      await dynamo.stop()
    }
    return { url: `http://127.0.0.1:${dynamo.port}`, store: dynamoGrants(client, { table: TABLE }), stop }
  },
}

const SCRIPT = fileURLToPath(new URL('_killed-process.ts', import.meta.url))

/** Runs until it is killed, some milliseconds after its first commit. Resolves with the number of commits that it said it made. */
async function runAndKill(child: ChildProcess): Promise<number> {
  let said = ''
  const exit = once(child, 'exit')
  await new Promise<void>((begun, fail) => {
    child.once('exit', () => fail(new Error('The process ended by itself.')))
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text
      begun()
    })
  })
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 50))
  child.kill('SIGKILL')
  await exit
  return said.split('\n').length - 1
}

it.each(Object.entries(PLACES))(
  `%s: two processes at once, ${KILLS} times kill -9 of both → the entries are of one commit, and no commit is lost or made twice`,
  async (kind, start) => {
    const { url, store, stop } = await start()
    try {
      let said = 0
      let deaths = 0
      for (let round = 0; round < KILLS; round++) {
        const children = [0, 1].map(() =>
          spawn(process.execPath, ['--no-warnings', SCRIPT, kind, url], {
            stdio: ['ignore', 'pipe', 'inherit'],
          }),
        )
        for (const made of await Promise.all(children.map(runAndKill))) said += made
        deaths += children.length
        // What they sent last may still be on its way.
        let before = -1
        const count = await eventually(async () => {
          const now = await countOf(store)
          const isStill = now === before
          before = now
          expect(isStill).toBe(true)
          return now
        })
        expect(count).toBeGreaterThanOrEqual(said)
        expect(count).toBeLessThanOrEqual(said + deaths)
      }
    } finally {
      await stop()
    }
  },
)

it(`a Durable Object: ${KILLS} times kill -9 of workerd → the entries are of one commit, and none that was answered is lost`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-grants-'))
  mkdirSync(join(folder, 'disk'))
  const entry = fileURLToPath(new URL('../cloudflare/keyed/worker.ts', import.meta.url))
  await build({ entryPoints: [entry], bundle: true, format: 'esm', outfile: join(folder, 'worker.js') })
  const port = await testPort()
  writeFileSync(join(folder, 'config.capnp'), toConfig(join(folder, 'disk'), port))
  const store = storeInWorker(new URL(`http://127.0.0.1:${port}`), { name: 'killed' })
  try {
    let said = 0
    for (let round = 1; round <= KILLS; round++) {
      const child = spawn(workerdBinary(), ['serve', join(folder, 'config.capnp')], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      const exit = once(child, 'exit')
      try {
        const count = await eventually(() => countOf(store))
        expect(count).toBeGreaterThanOrEqual(said)
        // Each death may have had one commit whose answer was lost.
        expect(count).toBeLessThanOrEqual(said + round - 1)
        expect(await addOne(store)).toBe(true)
        said++
        setTimeout(() => child.kill('SIGKILL'), Math.random() * 50)
        while (await addOne(store).catch(() => false)) said++
      } finally {
        child.kill('SIGKILL')
        await exit
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

function toConfig(disk: string, port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "grants", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2025-09-01",
      durableObjectNamespaces = [(className = "Grants", uniqueKey = "grants", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "Grants", durableObjectNamespace = "Grants")],
    )),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "grants")],
);
`
}

/** The one that wrangler runs. */
function workerdBinary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
  return (require('workerd') as { default: string }).default
}
