/** Servers of tasks that are killed with `kill -9` and begin again with the same store; each step writes that it begins. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { eventually } from '../../_eventually.ts'
import { testPort } from '../../_port.ts'
import { type BusServer, startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { TaskWire } from './_wire.ts'

export interface Killable {
  /** Starts a process. */
  begin(): Promise<{ readonly child: ChildProcess; readonly wire: TaskWire }>
  /** A line for each step that began: the name of its task, and its number. */
  begun(): string
  stop(): Promise<void>
}

const entry = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** A Node process on a store that outlives it. It is bundled, since it starts hundreds of times. */
async function startNode(kind: string, store: BusServer, maxCrashes: number): Promise<Killable> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-killed-'))
  const [file, log] = [join(folder, 'process.mjs'), join(folder, 'steps')]
  appendFileSync(log, '')
  await build({
    entryPoints: [entry('_process.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: file,
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`,
    },
  })
  return {
    async begin() {
      const child = spawn(process.execPath, [file, kind, store.url, log, String(maxCrashes)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
      return { child, wire: new TaskWire(line) }
    },
    begun: () => readFileSync(log, 'utf8'),
    async stop() {
      await store.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** workerd itself, with its objects on the disk. */
async function startWorkerd(): Promise<Killable> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-killed-'))
  mkdirSync(join(folder, 'disk'))
  let lines = ''
  const witness = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (line: string) => {
      lines += line
    })
    request.once('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(witness, 'listening')
  await build({
    entryPoints: [entry('../cloudflare/tasks/killed.ts')],
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:workers'],
    outfile: join(folder, 'worker.js'),
  })
  const port = await testPort()
  const config = join(folder, 'config.capnp')
  const { port: witnessPort } = witness.address() as AddressInfo
  writeFileSync(config, toConfig(join(folder, 'disk'), port, witnessPort))
  const url = `http://127.0.0.1:${port}`
  return {
    async begin() {
      const child = spawn(workerdBinary(), ['serve', config], { stdio: ['ignore', 'inherit', 'inherit'] })
      await eventually(() => fetch(url).then((response) => response.text()))
      return { child, wire: new TaskWire(`${url}/mcp`) }
    },
    begun: () => lines,
    async stop() {
      witness.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function toConfig(disk: string, port: number, witness: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "tasks", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2025-09-01",
      durableObjectNamespaces = [(className = "Tasks", uniqueKey = "tasks", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [
        (name = "Tasks", durableObjectNamespace = "Tasks"),
        (name = "WITNESS", text = "http://127.0.0.1:${witness}/"),
      ],
      globalOutbound = "loopback",
    )),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true)),
    (name = "loopback", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "tasks")],
);
`
}

/** The one that wrangler runs. */
function workerdBinary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
  return (require('workerd') as { default: string }).default
}

export const KILLABLE = {
  redis: async (maxCrashes = 100) => startNode('redis', await startRedisServer(), maxCrashes),
  postgres: async (maxCrashes = 100) => startNode('postgres', await startPostgresServer(), maxCrashes),
  'durable-object': startWorkerd,
} as const
