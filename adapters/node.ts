/**
 * Node: serves an `MCPServer`, or anything with a `fetch`, over node:http through `@hono/node-server`.
 *
 * Exports `serve`, which listens and closes gracefully; `nodeListener` and `startHTTP`, for your own HTTP server; `createSessions`;
 * and `startStdio`.
 */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { printError } from '../src/definition/print-error.ts'
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import { type FetchServer, isLean, requireServer } from '../src/request/platform.ts'
import { requireVariables } from '../src/request/start.ts'
import { createListener, type Track } from './_node/listener.ts'
import { honoListener, requireHono } from './_node/load-hono.ts'

export type { EventStore } from './_node/event-store.ts'
export { fileKeyStore } from './_node/key-file.ts'
export { type NodeListenerOptions, nodeListener } from './_node/listener.ts'
export {
  createSessions,
  type Sessions,
  type SessionsOptions,
} from './_node/sessions.ts'
export { closeSessions, type StartHTTP, type StartHTTPOptions, startHTTP } from './_node/start.ts'
export { type StdioOptions, type StdioServer, startStdio } from './_node/stdio.ts'
export type { FetchServer }

/** Options of `serve`. */
export interface ServeOptions {
  /** Default 3000; 0 for any free port. */
  port?: number
  /** The address to listen on. Default `127.0.0.1`, which only this machine can reach. */
  hostname?: string
  /** The environment for `ctx.env`. Default `process.env`. */
  env?: unknown
}

/** A listening server. */
export interface NodeServer {
  /** The endpoint for clients, such as `http://127.0.0.1:3000/mcp`. */
  url: string
  port: number
  /** Stops accepting requests, waits up to 5 seconds for running ones and `waitUntil` work, then drops the rest. */
  close(): Promise<void>
}

const OPTIONS: Names<ServeOptions> = { port: [0, 65535], hostname: 'string', env: 1 }

const CLOSE_GRACE_MS = 5000

/**
 * Serves until `close()`. Rejects with the system's error if it cannot listen (`code` is `EADDRINUSE` if the port is taken), and with a
 * `TypeError` if `staticTokens` has an entry whose token is not set in `env`. Does not trust forwarded headers and does not install signal handlers.
 *
 * ```ts
 * const { url, close } = await serve(server, { port: 3000 })
 * process.once('SIGTERM', () => void close())
 * ```
 */
export async function serve(server: FetchServer, options: ServeOptions = {}): Promise<NodeServer> {
  requireServer('serve', server)
  refuseUnknown('serve', options, OPTIONS)
  const { port = 3000, hostname = '127.0.0.1', env = process.env } = options
  requireVariables(server, env)
  // Loaded when they are needed, as most of the time that an import of this module would take is theirs.
  const [{ createServer }] = await Promise.all([nodeHttp(), isLean(server) ? requireHono() : honoListener()])
  const running = new Set<Promise<unknown>>()
  const track: Track = (work) => {
    running.add(work)
    work.finally(() => running.delete(work))
  }
  const http = createServer(createListener(server, { env, hostname }, track))
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, hostname, resolve)
  })
  const bound = (http.address() as AddressInfo).port
  let closed: Promise<void> | undefined
  return {
    url: `http://${urlHost(hostname)}:${bound}/mcp`,
    port: bound,
    close: () => {
      closed ??= closeGracefully(http, running, server)
      return closed
    },
  }
}

/** Not imported where Node 22 has a cheaper way: an import reads all members of the module, and one of them loads Node's fetch. */
function nodeHttp(): typeof import('node:http') | Promise<typeof import('node:http')> {
  return process.getBuiltinModule?.('node:http') ?? import('node:http')
}

async function closeGracefully(
  http: Server,
  running: Set<Promise<unknown>>,
  server: FetchServer,
): Promise<void> {
  const closed = new Promise((resolve) => http.close(resolve))
  // Open streams of sessions would not end by themselves.
  const ended = server.close?.().catch(printError)
  let timer: NodeJS.Timeout | undefined
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_GRACE_MS)
  })
  await Promise.race([settled(running), grace])
  clearTimeout(timer)
  http.closeAllConnections()
  await Promise.all([closed, ended])
}

/** In a loop, since running requests may register more `waitUntil` work. */
async function settled(running: Set<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running)
}

/** Clients cannot connect to a wildcard address. */
function urlHost(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
