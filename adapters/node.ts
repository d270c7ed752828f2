/**
 * Node: serves an `MCPServer`, or anything with a `fetch`, over node:http through `@hono/node-server`.
 *
 * Exports `serve`, which listens and closes gracefully, and `nodeListener`, a `(req, res)` function for an HTTP server of
 * one's own.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { isLoopbackAddress } from '../src/request/address.ts'
import { type FetchServer, serveRequest } from '../src/request/platform.ts'
import { handleHTTP, type StartHTTP } from './_node/start.ts'

export type { EventStore } from './_node/event-store.ts'
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
  startSSE,
} from './_node/start.ts'
export { type StdioOptions, type StdioServer, startStdio } from './_node/stdio.ts'
export type { FetchServer }

export interface NodeListenerOptions {
  /** `ctx.env`. Default `process.env`. */
  env?: unknown
  /** The address the listener is bound to. A loopback one turns the DNS-rebinding guard on. Default: not known. */
  hostname?: string
}

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

type NodeListener = (request: IncomingMessage, response: ServerResponse) => void
type Track = (work: Promise<unknown>) => void

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

/**
 * A `(req, res)` listener for node:http or Express. Mount it before any body parser: it reads the body itself. Answers
 * every path it is given.
 *
 * ```ts
 * createServer(nodeListener(server)).listen(3000)
 * ```
 */
export function nodeListener(server: FetchServer, options: NodeListenerOptions = {}): NodeListener {
  return createListener(server, options, () => {})
}

/**
 * Serves one Node request of an `MCPServer`: with sessions, or without where `options.serverless` says so. Resolves when the
 * response has ended.
 *
 * ```ts
 * createServer((req, res) => {
 *   const url = new URL(req.url ?? '', 'http://localhost')
 *   void startHTTP({ server, url, httpPath: '/mcp', req, res })
 * })
 * ```
 */
export function startHTTP(request: StartHTTP): Promise<void> {
  return handleHTTP(request, nodeListener)
}

function createListener(server: FetchServer, options: NodeListenerOptions, track: Track): NodeListener {
  const { env = process.env, hostname } = options
  const loopback = hostname !== undefined && isLoopbackAddress(hostname)
  const waitUntil = (promise: Promise<unknown>): void => track(promise.catch(reportError))
  // Undici's Request drops its abort listener when it is collected, even while its signal is in use (Node 20 and 24):
  // a request lives as long as its response.
  const requests = new WeakMap<object, Request>()

  const listener = getRequestListener(
    (incomingRequest, { incoming, outgoing }) => {
      // No Request can have these methods (Fetch standard, forbidden methods).
      if (/^TRAC[EK]$/i.test(incomingRequest.method)) return new Response(null, { status: 501 })
      // The absolute form names a host of its own (RFC 9112 §3.2.2), which no guard has seen.
      if (!incoming.url?.startsWith('/')) return new Response(null, { status: 400 })
      // Hono's request is a look-alike that `new Request(it)` refuses, unless Hono replaces the globals, after which
      // `await fetch(...) instanceof Response` is false in everybody's code.
      const request = new Request(incomingRequest.url, incomingRequest)
      requests.set(outgoing, request)
      const clientAddress = incoming.socket.remoteAddress
      return serveRequest(server, request, {
        env,
        waitUntil,
        canStream: true,
        loopback,
        ...(clientAddress !== undefined && { clientAddress }),
      })
    },
    { overrideGlobalObjects: false, errorHandler: errorResponse },
  )
  return (request, response) => {
    track(new Promise((resolve) => response.once('close', resolve)))
    void listener(request, response)
  }
}

function errorResponse(error: unknown): Response {
  if (error instanceof RequestError) return new Response(null, { status: 400 })
  reportError(error)
  return new Response(null, { status: 500 })
}

function reportError(error: unknown): void {
  console.error(error)
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
