/**
 * The port of `mayfly dev`: serves the playground, and forwards everything else unchanged to the platform's own process.
 *
 * It is the same for every platform and is not part of a deployment.
 */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { boundedFetch } from '../../src/definition/bounded-fetch.ts'
import { PAGE_CSP } from '../../src/http/page.ts'
import { listenOn } from '../run/port.ts'
import type { ErrorLog } from './error-log.ts'
import { createEventReceivers } from './event-receiver.ts'
import { forward, withoutHops } from './forward.ts'
import { answerLocally, isLocalHost, type LocalProcess, pathOf, refuse, servePage } from './local-process.ts'
import { PREFIX } from './page.ts'
import { createReloads } from './reloads.ts'

export interface PlaygroundFront {
  /** Where it listens. */
  readonly port: number
  /** The path of the playground: `/`, or below it if the server has its own page there. */
  readonly path: string
  /** Opens the tasks without their secret, after `#token=` in the URL of a page. */
  readonly key?: string
  /** Tells the open pages that the server was replaced. */
  announceReload(): void
  /** Tells them why the last change is not served. */
  announceRefused(reasons: readonly string[]): void
  /** Stops accepting, and resolves when `drained` has and all connections are closed. */
  close(drained: Promise<unknown>): Promise<void>
}

export interface FrontOptions {
  /** 0: any free one. */
  readonly port: number
  /** The port of 127.0.0.1 where the platform's process listens. */
  readonly innerPort: number
  /** The path of the MCP endpoint. */
  readonly endpointPath: string
  /** The path of the task endpoint, if the project declares it. */
  readonly tasksPath?: string | undefined
  /** The secret of `createTaskAdmin`, for requests of the page with `key`. */
  readonly tasksSecret?: string | undefined
  /** What the server logs. Default: nothing is known. */
  readonly errors?: ErrorLog | undefined
}

const PROBE_TIMEOUT_MS = 5000

/** Listens on this port of 127.0.0.1. Rejects with `CliError` if the port is in use. */
export async function startPlaygroundFront({
  port: wanted,
  innerPort,
  endpointPath,
  tasksPath,
  tasksSecret,
  errors,
}: FrontOptions): Promise<PlaygroundFront> {
  const [token, key] = [createToken(), createToken()]
  const access = tasksSecret ? { secret: tasksSecret, key } : undefined
  const reloads = createReloads()
  const isAtRoot = !(await hasOwnPage(innerPort))
  const listener = createServer(
    { keepAliveTimeout: 5000, maxHeaderSize: 256 * 1024 },
    (request, response) => {
      const isOurs = isLocalHost(request) && pathOf(request).startsWith(PREFIX)
      if (isOurs)
        answerLocally(request, response, local).catch(() => refuse(response, 500, 'the playground failed'))
      else if (isAtRoot && opensPage(request)) servePage(request, response, local)
      else passOn(request, response, innerPort)
    },
  )
  // The server decides how long a request or a response may take.
  listener.requestTimeout = 0
  // Upgraded connections, which the listener no longer tracks.
  const upgraded = new Set<Socket>()
  listener.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    tunnel(request, socket, head, innerPort)
  })
  listener.on('clientError', (_error, socket) => socket.destroy())
  const port = await listenOn(listener, wanted)
  // Requests come later than this.
  const local: LocalProcess = {
    path: endpointPath,
    server: new URL(`http://127.0.0.1:${port}${endpointPath}`),
    token,
    tasks: { path: tasksPath, access },
    reloads,
    errors,
    receivers: createEventReceivers(),
  }
  return {
    port,
    path: isAtRoot ? '/' : PREFIX,
    ...(access !== undefined && { key }),
    announceReload: reloads.announce,
    announceRefused: reloads.announceRefused,
    close: async (drained) => {
      reloads.close()
      const closed = new Promise((resolve) => listener.close(resolve))
      listener.closeIdleConnections()
      await drained
      listener.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
      await closed
    },
  }
}

function createToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a person opened the URL in a browser. `/?landing` shows the page of the deployed server. */
function opensPage(request: IncomingMessage): boolean {
  const { method, url = '', headers } = request
  return (
    method === 'GET' &&
    pathOf(request) === '/' &&
    url !== '/?landing' &&
    headers['sec-fetch-dest'] === 'document' &&
    isLocalHost(request)
  )
}

/** Whether the server shows a page at `/` that is not Mayfly's landing page. */
async function hasOwnPage(innerPort: number): Promise<boolean> {
  // By the id, its line in the log is not shown.
  const headers = { accept: 'text/html,*/*;q=0.8', 'x-request-id': 'mayfly-dev' }
  try {
    const limits = { timeoutMs: PROBE_TIMEOUT_MS, maxBytes: 0, isRead: () => false }
    const answer = await boundedFetch(`http://127.0.0.1:${innerPort}/`, { headers }, limits)
    return answer.status < 400 && answer.headers.get('content-security-policy') !== PAGE_CSP
  } catch {
    return false
  }
}

function passOn(request: IncomingMessage, response: ServerResponse, innerPort: number): void {
  const headers = withoutHops(request.rawHeaders)
  // The length of the body, or chunked encoding.
  if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked')
  headers.push('connection', 'close')
  const url = new URL(`http://127.0.0.1:${innerPort}`)
  forward(request, response, {
    url,
    // Unparsed, since parsing could change the path.
    options: { method: request.method!, path: request.url!, headers, setHost: false },
    toHeaders: withoutHops,
    // Behaves as if nothing listened, as without this front.
    onFailure: () => response.destroy(),
  })
}

/** WebSockets: forwards the bytes of both sides. */
function tunnel(request: IncomingMessage, client: Socket, head: Buffer, innerPort: number): void {
  const server = connect({ port: innerPort, host: '127.0.0.1' })
  const lines = [`${request.method} ${request.url} HTTP/1.1`]
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`)
  server.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  server.write(head)
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => {})
    one.once('close', () => other.destroy())
    one.pipe(other)
  }
}
