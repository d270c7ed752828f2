/**
 * The process that runs one build: imports it, and serves it when told to. Speaks to `dev.ts` over IPC.
 *
 * Loading and listening are two steps so that a new build is known to load before it takes the place of the old one.
 */
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type FetchServer, type NodeServer, serve } from '../../adapters/node.ts'

export type ParentMessage = { type: 'listen' | 'release' }
export type ChildMessage =
  | { type: 'loaded' | 'released' | 'no-fetch' }
  | { type: 'listening'; port: number }
  | { type: 'failed'; reason: string }

let running: NodeServer | undefined

async function load(file: string): Promise<FetchServer | undefined> {
  const { default: server } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  return isFetchServer(server) ? server : undefined
}

function isFetchServer(value: unknown): value is FetchServer {
  return typeof value === 'object' && value !== null && 'fetch' in value && typeof value.fetch === 'function'
}

async function listen(server: FetchServer): Promise<void> {
  running = await serve(server, { port: 0 })
  send({ type: 'listening', port: running.port })
}

/** Running requests get their grace. */
async function release(): Promise<void> {
  const closed = running?.close()
  send({ type: 'released' })
  await closed
  process.exit(0)
}

function fail(error: unknown): void {
  send({ type: 'failed', reason: error instanceof Error ? reasonOf(error) : String(error) })
}

/** With the place in the user's own files, through source maps. */
function reasonOf({ name, message, stack = '' }: Error): string {
  const place = stack
    .split('\n')
    .map((line) => / \(?(?:file:\/\/)?(\/[^()]+:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((path) => path?.startsWith(process.cwd()) && !path.includes('/node_modules/'))
  return `${name}: ${message.split('\n')[0]}${place === undefined ? '' : ` (${relative(process.cwd(), place)})`}`
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
      else listen(server).catch(fail)
    })
  }
  send({ type: server ? 'loaded' : 'no-fetch' })
} catch (error) {
  fail(error)
}
