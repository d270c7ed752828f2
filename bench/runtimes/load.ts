/**
 * Sends requests over connections that are kept, checks each answer, and reads from the system what a process has cost.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { RequestTemplate } from '../requests.ts'

const CONNECTIONS = 4

export interface Client {
  /** Sends `count` requests. @throws Error at the first answer that `check` does not take. */
  send(count: number): Promise<void>
  close(): void
}

export function createClient(
  url: URL,
  { init }: RequestTemplate,
  check: (status: number, text: string) => void,
): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const headers = { ...init.headers, host: url.host }
  const sendOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { agent, method: init.method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => {
          try {
            check(response.statusCode!, text)
            resolve()
          } catch (error) {
            reject(error)
          }
        })
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(init.body)
    })
  return {
    async send(count) {
      let left = count
      const work = async (): Promise<void> => {
        while (left-- > 0) await sendOne()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, work))
    },
    close: () => agent.destroy(),
  }
}

/** Microseconds that all threads of a process have run (Linux, /proc/<pid>/task/<tid>/schedstat). */
export function cpuMicrosecondsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + nanoseconds(`/proc/${pid}/task/${thread}/schedstat`), 0) / 1000
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
