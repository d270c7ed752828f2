/** Servers of Events that are killed with `kill -9`, and begin again with the same store. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { Pool } from 'pg'
import { postgresEvents } from '../../../../adapters/postgres.ts'
import { eventually } from '../../../_eventually.ts'
import { testPort } from '../../../_port.ts'
import { startPostgresServer, startRedisServer } from '../../buses/_servers.ts'
import { startDynamo } from '../../keyed/_dynamo.ts'

export interface Killable {
  /** Starts a process whose clock is so much ahead. */
  begin(aheadMs: number): Promise<{ readonly child: ChildProcess; readonly url: URL }>
  stop(): Promise<void>
}

interface Store {
  readonly url: string
  stop(): Promise<unknown>
}

const entry = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

async function bundle(options: BuildOptions): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-events-'))
  const file = join(folder, 'bundle.mjs')
  await build({ bundle: true, format: 'esm', outfile: file, ...options })
  return { folder, file }
}

/** A Node process on a store that outlives it. It is bundled, since it starts many times. */
async function startNode(kind: string, store: Store): Promise<Killable> {
  const { folder, file } = await bundle({
    entryPoints: [entry('_process.ts')],
    platform: 'node',
    // Of what is bundled, only the client of DynamoDB looks for something beside itself.
    define: { 'import.meta.url': JSON.stringify(new URL('../../keyed/_dynamo-client.ts', import.meta.url)) },
    external: ['pg-native'],
    banner: {
      js: `import { createRequire as toRequire } from 'node:module'; const require = toRequire(${JSON.stringify(import.meta.url)})`,
    },
  })
  return {
    async begin(aheadMs) {
      const child = spawn(process.execPath, [file, kind, store.url, String(aheadMs)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`It ended with ${code}.`)))
      const said = once(createInterface(child.stdout), 'line') as Promise<[string]>
      const [line] = await Promise.race([said, died])
      died.catch(() => {})
      return { child, url: new URL(line) }
    },
    async stop() {
      await store.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** workerd itself, with its object on the disk. */
async function startWorkerd(): Promise<Killable> {
  const { folder } = await bundle({
    entryPoints: [entry('_worker.ts')],
    external: ['cloudflare:workers'],
  })
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const port = await testPort()
  const config = join(folder, 'config.capnp')
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  return {
    async begin(aheadMs) {
      writeFileSync(config, toConfig(disk, port, aheadMs))
      const child = spawn(workerdBinary(), ['serve', config], { stdio: ['ignore', 'inherit', 'inherit'] })
      await eventually(() => fetch(url).then((response) => response.text()))
      return { child, url }
    },
    async stop() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function toConfig(disk: string, port: number, aheadMs: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "events", worker = (
      modules = [(name = "worker.js", esModule = embed "bundle.mjs")],
      compatibilityDate = "2025-09-01",
      durableObjectNamespaces = [(className = "Events", uniqueKey = "events", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [
        (name = "Events", durableObjectNamespace = "Events"),
        (name = "AHEAD", text = "${aheadMs}"),
      ],
      globalOutbound = "loopback",
    )),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true)),
    (name = "loopback", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "events")],
);
`
}

/** The one that wrangler runs. */
function workerdBinary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
  return (require('workerd') as { default: string }).default
}

async function startPostgres(): Promise<Store> {
  const server = await startPostgresServer()
  const pool = new Pool({ connectionString: server.url })
  await postgresEvents(pool).migrate()
  await pool.end()
  return server
}

async function startDynamoServer(): Promise<Store> {
  const { port, stop } = await startDynamo()
  return { url: `http://127.0.0.1:${port}`, stop }
}

export const KILLABLE = {
  Postgres: async () => startNode('Postgres', await startPostgres()),
  Redis: async () => startNode('Redis', await startRedisServer()),
  DynamoDB: async () => startNode('DynamoDB', await startDynamoServer()),
  'Durable Object': startWorkerd,
} as const
