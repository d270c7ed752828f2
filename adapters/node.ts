/**
 * Node: serves an `MCPServer`, or anything with a `fetch`, over node:http through `@hono/node-server`.
 *
 * Exports `serve`, which listens and closes gracefully, `nodeListener`, a `(req, res)` function for an HTTP server of one's own,
 * and an `MCPServer` with the methods that other frameworks give it.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FetchServer } from '../src/request/platform.ts'
import { createListener, reportError, type Track } from './_node/listener.ts'

export {
  createIntrospectionValidator,
  createStaticTokenValidator,
  type OAuthConfig,
  type TokenValidationResult,
  type ValidateToken,
} from '../src/auth/validate-token.ts'
export type { EventStore } from './_node/event-store.ts'
export { type NodeListenerOptions, nodeListener } from './_node/listener.ts'
export { MCPServer } from './_node/mcp-server.ts'
export {
  createOAuthMiddleware,
  type OAuthMiddlewareOptions,
  type OAuthMiddlewareResult,
} from './_node/oauth-middleware.ts'
export {
  createSessions,
  type Sessions,
  type SessionsOptions,
} from './_node/sessions.ts'
export {
  closeSessions,
  type StartHonoSSE,
  type StartHTTP,
  type StartHTTPOptions,
  type StartSSE,
  startHonoSSE,
  startHTTP,
  startSSE,
} from './_node/start.ts'
export { type StdioOptions, type StdioServer, startStdio } from './_node/stdio.ts'
export type { FetchServer }

export interface ServeOptions {
  /** Default 3000; 0 picks a free one. */
  port?: number
  /** Default `127.0.0.1`, which only this machine reaches. */
  hostname?: string
  /** `ctx.env`. Default `process.env`. */
  env?: unknown
}

export interface NodeServer {
  /** Where clients connect, such as `http://127.0.0.1:3000/mcp`. */
  url: string
  port: number
  /**
   * Accepts nothing more, waits up to 5 seconds for running requests and `waitUntil` work, then drops what is left.
   */
  close(): Promise<void>
}

const CLOSE_GRACE_MS = 5000

/**
 * Serves until `close()`. Rejects with the system's error when it cannot listen (`code` is `EADDRINUSE` when the port is
 * taken). Does not trust forwarded headers and does not install signal handlers.
 *
 * ```ts
 * const { url, close } = await serve(server, { port: 3000 })
 * process.once('SIGTERM', () => void close())
 * ```
 */
export async function serve(server: FetchServer, options: ServeOptions = {}): Promise<NodeServer> {
  const { port = 3000, hostname = '127.0.0.1', env = process.env } = options
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

async function closeGracefully(
  http: Server,
  running: Set<Promise<unknown>>,
  server: FetchServer,
): Promise<void> {
  const closed = new Promise((resolve) => http.close(resolve))
  // Streams of sessions end by nothing else.
  const ended = server.close?.().catch(reportError)
  let timer: NodeJS.Timeout | undefined
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_GRACE_MS)
  })
  await Promise.race([settled(running), grace])
  clearTimeout(timer)
  http.closeAllConnections()
  await Promise.all([closed, ended])
}

/** Running requests may register more `waitUntil` work while they are waited for. */
async function settled(running: Set<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running)
}

/** A wildcard address is not one to connect to. */
function urlHost(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
