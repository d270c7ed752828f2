/**
 * The process that runs one build: imports it, and serves it when told to. Speaks to `dev.ts` over IPC.
 *
 * Loading and listening are two steps so that a new build is known to load before the old one gives up the port.
 */
import { pathToFileURL } from 'node:url'
import { type FetchServer, type NodeServer, serve } from '../../adapters/node.ts'

export type ParentMessage = { type: 'listen'; port: number } | { type: 'release' }
export type ChildMessage =
  | { type: 'loaded' | 'listening' | 'released' | 'no-fetch' }
  | { type: 'failed'; reason: string; code?: string }

let running: NodeServer | undefined

async function load(file: string): Promise<FetchServer | undefined> {
  const { default: server } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  return isFetchServer(server) ? server : undefined
}

function isFetchServer(value: unknown): value is FetchServer {
  return typeof value === 'object' && value !== null && 'fetch' in value && typeof value.fetch === 'function'
}

async function listen(server: FetchServer, port: number): Promise<void> {
  running = await serve(server, { port })
  send({ type: 'listening' })
}

/** The port is free as soon as `close` is called; running requests get their grace. */
async function release(): Promise<void> {
  const closed = running?.close()
  send({ type: 'released' })
  await closed
  process.exit(0)
}

function fail(error: unknown): void {
  // The stack is the user's own code, through source maps.
  console.error(error)
  const { message, code } = error as NodeJS.ErrnoException
  send({ type: 'failed', reason: message ?? String(error), ...(code !== undefined && { code }) })
}

function send(message: ChildMessage): void {
  if (process.connected) process.send?.(message)
}

// The parent is gone, however it ended: nothing is left behind.
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => void release())

try {
  const server = await load(process.argv[2] ?? '')
  if (server) {
    process.on('message', (message: ParentMessage) => {
      if (message.type === 'release') void release()
      else listen(server, message.port).catch(fail)
    })
  }
  send({ type: server ? 'loaded' : 'no-fetch' })
} catch (error) {
  fail(error)
}
