/**
 * Starts one peer on one real runtime, over HTTP: workerd by itself (without wrangler's proxy), Deno, Bun and Node.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { COMPATIBILITY } from '../../deploy/cloudflare/config.ts'
import { freePort } from '../../deploy/port.ts'
import { startProcessGroup } from '../../deploy/process-group.ts'
import { resolveTool } from '../../deploy/project-tool.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Milliseconds that a server may take to answer for the first time. */
const START_MS = 30_000

export const RUNTIMES = ['workerd', 'Node', 'deno', 'bun'] as const
export type Runtime = (typeof RUNTIMES)[number]

/** What is served. `exports` is what a file of `peers/` exports, `tools` the tools to serve. */
export interface Subject {
  readonly name: string
  /** A file of `peers/`. */
  readonly module: string
  /** An expression that is a fetch handler. */
  readonly handler: string
  /** An expression that is an `MCPServer` of ours: it is served by our adapters, as its users do, instead of the handler. */
  readonly server?: string
}

export interface RunningServer {
  readonly url: URL
  readonly pid: number
  stop(): Promise<void>
}

export async function startServer(
  runtime: Runtime,
  subject: Subject,
  toolCount: number,
  folder: string,
): Promise<RunningServer> {
  const { file, port } = await bundleServer(runtime, subject, toolCount, folder)
  const { args, command } = commandOf(runtime, file, port, folder)
  const group = startProcessGroup(args, { stdio: ['ignore', 'ignore', 'inherit'] }, command)
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  await untilListens(port, AbortSignal.timeout(START_MS))
  return { url, pid: group.child.pid!, stop: () => group.stop() }
}

/** Writes what `startServer` runs. */
export async function bundleServer(
  runtime: Runtime,
  subject: Subject,
  toolCount: number,
  folder: string,
  minify = true,
): Promise<{ file: string; port: number }> {
  const port = await freePort(0)
  const file = join(folder, `${runtime}-${subject.name.replaceAll(/\W+/g, '-')}-${toolCount}.mjs`)
  await bundle(runtime, entryOf(runtime, subject, toolCount, port), file, minify)
  return { file, port }
}

function entryOf(runtime: Runtime, subject: Subject, toolCount: number, port: number): string {
  const { module, handler, server } = subject
  const adapter = JSON.stringify(join(ROOT, `dist/adapters/${runtime.toLowerCase()}.js`))
  const listen = `port: ${port}, hostname: '127.0.0.1'`
  const [imported, run] = server === undefined ? plain(runtime, listen) : adapted(runtime, adapter, listen)
  return [
    imported,
    `import * as exports from ${JSON.stringify(join(ROOT, 'bench/peers', module))}`,
    `import { echoTools } from ${JSON.stringify(join(ROOT, 'bench/tools.ts'))}`,
    `const tools = echoTools(${toolCount})`,
    `const served = ${server ?? handler}`,
    run,
  ].join('\n')
}

/** What serves a fetch handler called `served`: an import, and a statement. */
function plain(runtime: Runtime, listen: string): readonly [string, string] {
  switch (runtime) {
    case 'workerd':
      return ['', 'export default { fetch: (request) => served(request) }']
    case 'Node':
      return [
        `import { serve } from '@hono/node-server'`,
        `serve({ fetch: (request) => served(request), ${listen} })`,
      ]
    case 'deno':
      return ['', `Deno.serve({ ${listen}, onListen() {} }, (request) => served(request))`]
    case 'bun':
      return ['', `Bun.serve({ ${listen}, fetch: (request) => served(request) })`]
  }
}

/** The same for a server of ours. */
function adapted(runtime: Runtime, adapter: string, listen: string): readonly [string, string] {
  switch (runtime) {
    case 'workerd':
      return ['', 'export default served']
    case 'Node':
    case 'bun':
      return [`import { serve } from ${adapter}`, `await serve(served, { ${listen} })`]
    case 'deno':
      return [
        `import { deno } from ${adapter}`,
        `Deno.serve({ ${listen}, onListen() {} }, deno(served, { hostname: '127.0.0.1' }))`,
      ]
  }
}

async function bundle(runtime: Runtime, contents: string, outfile: string, minify: boolean): Promise<void> {
  const isWorker = runtime === 'workerd'
  await build({
    stdin: { contents, resolveDir: ROOT, loader: 'js' },
    outfile,
    bundle: true,
    minify,
    format: 'esm',
    platform: isWorker ? 'browser' : 'node',
    target: 'es2024',
    conditions: isWorker
      ? ['workerd', 'worker', 'browser']
      : runtime === 'deno'
        ? ['deno', 'node']
        : ['node'],
    external: ['node:*'],
    // Packages in CommonJS ask for Node's own modules by it.
    ...(!isWorker && {
      banner: {
        js: `import { createRequire as __require } from 'node:module'; const require = __require(import.meta.url);`,
      },
    }),
    logLevel: 'error',
  })
}

async function untilListens(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect', { signal })
      return
    } catch {
      signal.throwIfAborted()
      await delay(20, undefined, { signal })
    } finally {
      socket.destroy()
    }
  }
}

function commandOf(
  runtime: Runtime,
  file: string,
  port: number,
  folder: string,
): { args: readonly string[]; command: string } {
  switch (runtime) {
    case 'workerd': {
      const config = file.replace(/\.mjs$/, '.capnp')
      writeFileSync(config, workerdConfig(file.slice(folder.length + 1), port))
      return { args: ['serve', config], command: workerdBinary() }
    }
    case 'Node':
      return { args: [file], command: process.execPath }
    case 'deno':
      return {
        args: ['run', '--allow-all', '--no-config', file],
        command: join(ROOT, 'node_modules/.bin/deno'),
      }
    case 'bun':
      return { args: [file], command: join(ROOT, 'node_modules/.bin/bun') }
  }
}

export function workerdConfig(file: string, port: number): string {
  const { compatibility_date: date, compatibility_flags: flags } = COMPATIBILITY
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "bench", worker = (
    modules = [(name = "server.js", esModule = embed ${JSON.stringify(file)})],
    compatibilityDate = ${JSON.stringify(date)},
    compatibilityFlags = ${JSON.stringify(flags)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "bench")],
);
`
}

/** The one that wrangler runs. */
function workerdBinary(): string {
  const require = createRequire(resolveTool('wrangler/package.json', ROOT))
  return (require('workerd') as { default: string }).default
}
