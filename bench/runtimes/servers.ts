/** Starts one subject on one real runtime. */
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { freePort } from '../../deploy/run/port.ts'
import { startProcessGroup } from '../../deploy/run/process-group.ts'
import { FRAMEWORKS, ROOT, writeEntry } from './entry.ts'
import type { Issuer } from './issuer.ts'
import { startLambda, unpackLambda } from './lambda.ts'
import { createHttpClient, type Send } from './load.ts'
import { type Fixture, fileNameOf, type Runtime, type Serving } from './subject.ts'
import { workerdBinary, workerdConfig } from './workerd.ts'
import { buildXmcp } from './xmcp.ts'

/** Milliseconds that a server may take to accept connections. */
const START_MS = 30_000

const CONNECTIONS = 4

export interface RunningServer {
  /** The process that serves. */
  readonly pid: number
  /** How many requests are sent at a time. A process on Lambda gets one. */
  readonly atOnce: number
  readonly send: Send
  stop(): Promise<void>
}

export interface ServerOptions {
  readonly runtime: Runtime
  readonly name: string
  readonly serving: Serving
  readonly fixture: Fixture
  readonly keys: Issuer['keys']
  /** Where the files are written. */
  readonly folder: string
}

/** @throws Error when it does not start. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  return (await prepareServer(options)).start()
}

/** A server whose files are written. */
export interface PreparedServer {
  /** Starts a fresh process, as often as it is called, one at a time. @throws Error when it does not start. */
  start(): Promise<RunningServer>
}

export async function prepareServer(options: ServerOptions): Promise<PreparedServer> {
  const { runtime, serving, fixture, name, keys, folder } = options
  const port = await freePort(0)
  const env = environmentIn(folder)
  const listening = (command: Command): PreparedServer => ({
    start: () => startListener({ ...command, cwd: folder, env }, port),
  })
  if (serving.kind === 'xmcp') {
    const program = buildXmcp(join(folder, fileNameOf(runtime, name, fixture)), fixture, port)
    return listening({ command: process.execPath, args: [program] })
  }
  const extension = runtime === 'edge-runtime' ? 'js' : 'mjs'
  const outfile = join(folder, `${fileNameOf(runtime, name, fixture)}.${extension}`)
  const parts = await writeEntry({ runtime, serving, fixture, port, keys, outfile })
  if (runtime === 'lambda') {
    const taskRoot = await unpackLambda(outfile, parts)
    return { start: async () => ({ ...(await startLambda(taskRoot, env)), atOnce: 1 }) }
  }
  return listening(commandOf(runtime, outfile, await hostFor(runtime, folder), port))
}

/**
 * Nothing else of this machine's own: Node would read the certificates that a variable names. Without NODE_ENV some servers are slower, or
 * write more. What deno and bun keep of earlier starts is this run's own.
 */
function environmentIn(folder: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return {
    ...{ PATH, HOME, NODE_ENV: 'production' },
    DENO_DIR: join(folder, 'deno-cache'),
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: join(folder, 'bun-cache'),
  }
}

/** What runs a script of the edge-runtime: compiled once, so that no start pays for TypeScript. */
async function hostFor(runtime: Runtime, folder: string): Promise<string> {
  const outfile = join(folder, 'edge-host.mjs')
  if (runtime !== 'edge-runtime' || existsSync(outfile)) return outfile
  const source = fileURLToPath(new URL('edge-host.ts', import.meta.url))
  const { code } = await transform(readFileSync(source, 'utf8'), { loader: 'ts', format: 'esm' })
  const found = JSON.stringify(import.meta.resolve('edge-runtime'))
  writeFileSync(
    outfile,
    code.replace(/"edge-runtime"/, () => found),
  )
  return outfile
}

interface Command {
  readonly command: string
  readonly args: readonly string[]
}

interface Started extends Command {
  /** Some servers write files there. */
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Starts a program that listens on `port`. */
export async function startListener(
  { command, args, cwd, env }: Started,
  port: number,
): Promise<RunningServer> {
  const group = startProcessGroup(args, { stdio: ['ignore', 'ignore', 'inherit'], env, cwd }, command)
  const client = createHttpClient(new URL(`http://127.0.0.1:${port}/mcp`), CONNECTIONS)
  const stop = async (): Promise<void> => {
    client.close()
    await group.stop()
  }
  const ended = new AbortController()
  void group.exited.then((code) => ended.abort(new Error(`it ended with code ${code} before it listened`)))
  try {
    await untilListens(port, AbortSignal.any([AbortSignal.timeout(START_MS), ended.signal]))
  } catch (cause) {
    await stop()
    throw cause
  }
  return { pid: group.child.pid!, atOnce: CONNECTIONS, send: client.send, stop }
}

async function untilListens(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect', { signal })
      return
    } catch {
      signal.throwIfAborted()
      await delay(20)
    } finally {
      socket.destroy()
    }
  }
}

function commandOf(
  runtime: Exclude<Runtime, 'lambda'>,
  file: string,
  edgeHost: string,
  port: number,
): Command {
  switch (runtime) {
    case 'workerd': {
      const config = file.replace(/\.mjs$/, '.capnp')
      writeFileSync(config, workerdConfig(basename(file), port))
      return { command: workerdBinary(), args: ['serve', config] }
    }
    case 'Node':
      return { command: process.execPath, args: [file] }
    case 'deno':
      return {
        // Of its own: Deno 2.8.3 to 2.9.5 closes the connection after each request that is longer than its first 512 bytes
        // (denoland/deno#36657), which cost more than most servers do.
        command: join(FRAMEWORKS, 'node_modules/.bin/deno'),
        // As `mayfly build` has it started: otherwise deno also aborts `request.signal` after a response.
        args: ['run', '--allow-all', '--no-config', '--unstable-no-legacy-abort', file],
      }
    case 'bun':
      return { command: join(ROOT, 'node_modules/.bin/bun'), args: [file] }
    case 'edge-runtime':
      return { command: process.execPath, args: [edgeHost, file, String(port)] }
  }
}
