/**
 * Where the server runs while it is under load, and how its memory is read.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cloudflare } from '../../deploy/cloudflare/target.ts'
import { serveArtefact } from '../../test/runtimes/_artefact.ts'

export interface Memory {
  /** Bytes. */
  readonly rss: number
  /** Bytes in use after a collection, where one can be asked for. */
  readonly heapUsed?: number
}

export interface LoadTarget {
  readonly url: URL
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
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('The server has ended by itself: see its output above.')
    }),
  ])) as [unknown]
  return message
}

/** What `mayfly build` makes, on workerd as `mayfly preview` runs it. */
async function startCloudflare(): Promise<LoadTarget> {
  const served = await serveArtefact('scripts/load/server.ts', cloudflare)
  const pid = descendants(process.pid).find((one) => nameOf(one) === 'workerd')
  if (pid === undefined) throw new Error('No workerd was started.')
  return {
    url: served.url,
    memory: async () => {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
      return { rss: Number(kilobytes) * 1024 }
    },
    stop: () => served.stop(),
  }
}

/** Process ids, by Linux's /proc. */
function descendants(ancestor: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = /^PPid:\s+(\d+)/m.exec(statusOf(entry))?.[1]
    if (parent !== undefined) parents.set(Number(entry), Number(parent))
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === ancestor || isOurs(parents.get(pid)))
  return [...parents.keys()].filter((pid) => pid !== ancestor && isOurs(pid))
}

function nameOf(pid: number): string | undefined {
  return /^Name:\s+(\S+)/m.exec(statusOf(pid))?.[1]
}

function statusOf(pid: number | string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return '' // it has ended meanwhile
  }
}
