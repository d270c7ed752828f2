/**
 * Where the server runs while it is under load, and how its memory is read.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { on, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resolveTool } from '../../deploy/project/project-tool.ts'
import { freePort } from '../../deploy/run/port.ts'
import { untilAnswers } from '../../deploy/run/probe.ts'
import { startProcessGroup } from '../../deploy/run/process-group.ts'
import { buildInto } from '../../deploy/targets/build-into.ts'
import { COMPATIBILITY } from '../../deploy/targets/cloudflare/config.ts'
import { cloudflare } from '../../deploy/targets/cloudflare/target.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Milliseconds that a server may take to answer for the first time. */
const START_MS = 20_000

export interface Memory {
  /** Bytes. */
  readonly rss: number
  /** Bytes in use after a collection. */
  readonly heapUsed: number
}

export interface LoadTarget {
  readonly url: URL
  readonly pid: number
  memory(): Promise<Memory>
  stop(): Promise<void>
}

export const LOAD_TARGETS = { node: startNode, cloudflare: startCloudflare } as const

async function startNode(): Promise<LoadTarget> {
  const child = fork(fileURLToPath(new URL('node-process.ts', import.meta.url)), {
    execArgv: ['--expose-gc'],
  })
  const { url } = (await answerOf(child)) as { url: string }
  return {
    url: new URL(url),
    pid: child.pid!,
    memory: () => {
      child.send('memory')
      return answerOf(child) as Promise<Memory>
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const answered = new AbortController()
  const exited = once(child, 'exit', answered).then(() => {
    throw new Error('The server has ended by itself: see its output above.')
  })
  try {
    const [message] = (await Promise.race([once(child, 'message'), exited])) as [unknown]
    return message
  } finally {
    exited.catch(() => {}) // no caller waits for it any more
    answered.abort()
  }
}

/**
 * What `mayfly build` makes, on workerd itself: the proxy of `wrangler dev` is a separate process with its own memory and speed, and behind it
 * even a Worker that only answers `{}` grows by the same.
 */
async function startCloudflare(): Promise<LoadTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-load-'))
  const entry = join(ROOT, 'scripts/load/server.ts')
  await buildInto(cloudflare, { cwd: ROOT, entry, name: 'load' }, folder)
  const [port, inspectorPort] = [await freePort(0), await freePort(0)]
  writeFileSync(join(folder, 'config.capnp'), workerdConfig(port))
  const args = ['serve', `--inspector-addr=127.0.0.1:${inspectorPort}`, join(folder, 'config.capnp')]
  const group = startProcessGroup(args, { stdio: ['ignore', 'inherit', 'inherit'] }, workerdBinary())
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  await untilAnswers(String(url), AbortSignal.timeout(START_MS))
  return {
    url,
    pid: group.child.pid!,
    memory: async () => {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${group.child.pid}/status`, 'utf8'))![1]
      return { rss: Number(kilobytes) * 1024, heapUsed: await heapOf(inspectorPort) }
    },
    stop: async () => {
      await group.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function workerdConfig(port: number): string {
  const { compatibility_date: date, compatibility_flags: flags } = COMPATIBILITY
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "load", worker = (
    modules = [(name = "server.js", esModule = embed "server.js")],
    compatibilityDate = ${JSON.stringify(date)},
    compatibilityFlags = ${JSON.stringify(flags)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "load")],
);
`
}

/** Seconds that the main thread of a process has run, and waited for a processor (Linux, /proc/<pid>/schedstat). */
export function cpuOf(pid: number): { ran: number; waited: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return { ran: Number(ran) / 1e9, waited: Number(waited) / 1e9 }
}

/** The one that wrangler runs. */
function workerdBinary(): string {
  const require = createRequire(resolveTool('wrangler/package.json', ROOT))
  return (require('workerd') as { default: string }).default
}

/** Bytes in use after a collection, by the inspector (Chrome DevTools Protocol). */
async function heapOf(inspectorPort: number): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${inspectorPort}/load`)
  await once(socket, 'open')
  const send = async (id: number, method: string): Promise<{ readonly usedSize: number }> => {
    socket.send(JSON.stringify({ id, method }))
    for await (const [{ data }] of on(socket, 'message') as AsyncIterable<[MessageEvent<string>]>) {
      const answer = JSON.parse(data) as { id?: number; result: { usedSize: number } }
      if (answer.id === id) return answer.result
    }
    throw new Error('The inspector of workerd does not answer.')
  }
  await send(1, 'HeapProfiler.collectGarbage')
  const { usedSize } = await send(2, 'Runtime.getHeapUsage')
  socket.close()
  return usedSize
}
