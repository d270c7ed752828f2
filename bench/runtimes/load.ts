/** Sends requests, and reads from the system what a process has cost. */
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { RequestTemplate } from '../requests.ts'

export interface Reply {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** Sends one request. */
export type Send = (template: RequestTemplate) => Promise<Reply>

export interface HttpClient {
  readonly send: Send
  close(): void
}

/** A server may close a connection that nobody uses, at the very moment at which it is used again: an older one is not. */
const IDLE_MS = 500

/** Over connections that are kept while requests follow one another. */
export function createHttpClient(url: URL, connections: number): HttpClient {
  const createAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: connections })
  let agent = createAgent()
  let running = 0
  let usedAt = 0
  const send: Send = async (template) => {
    if (running === 0 && performance.now() - usedAt > IDLE_MS) {
      agent.destroy()
      agent = createAgent()
    }
    running++
    try {
      return await sendOnce(url, agent, template)
    } finally {
      running--
      usedAt = performance.now()
    }
  }
  return { send, close: () => agent.destroy() }
}

function sendOnce(url: URL, agent: Agent, { init }: RequestTemplate): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { ...init.headers, host: url.host }
    const sent = request(url, { agent, method: init.method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          contentType: response.headers['content-type'] ?? '',
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(init.body)
  })
}

export interface Load {
  /** Milliseconds of each run. */
  readonly latenciesMs: readonly number[]
  readonly elapsedMs: number
}

/** Runs `run` so often, `atOnce` of them at a time. Rejects with the first that fails. */
export async function runLoad(run: () => Promise<void>, count: number, atOnce: number): Promise<Load> {
  const latenciesMs: number[] = []
  let left = count
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const start = performance.now()
      await run()
      latenciesMs.push(performance.now() - start)
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: atOnce }, work))
  return { latenciesMs, elapsedMs: performance.now() - start }
}

/** What the threads of each process had run when they were last seen: one that ends takes its figure with it. */
const ranByProcess = new Map<string, Map<string, number>>()

/** Microseconds that all threads of a process have run (Linux, /proc/<pid>/task/<tid>/schedstat). Never less than before. */
export function cpuMicrosecondsOf(pid: number): number {
  const key = `${pid} ${startOf(pid)}`
  const ran = ranByProcess.get(key) ?? new Map<string, number>()
  ranByProcess.set(key, ran)
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const now = nanoseconds(`/proc/${pid}/task/${thread}/schedstat`)
    ran.set(thread, Math.max(now, ran.get(thread) ?? 0))
  }
  return [...ran.values()].reduce((sum, one) => sum + one, 0) / 1000
}

/** When a process was started: its id may have been another's before (proc(5), field 22, counted after the name). */
function startOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!
}

function nanoseconds(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0])
  } catch {
    return 0 // the thread has ended since
  }
}

/** Bytes of a process that are in memory. */
export function residentBytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}
