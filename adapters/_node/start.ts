/**
 * `startHTTP`, `startSSE` and `startHonoSSE`: one call for each Node request, as other frameworks have them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { MCPServer } from '../../src/index.ts'
import { principalOf } from '../../src/protocol/asking.ts'
import type { FetchServer } from '../../src/request/platform.ts'
import { loadSse } from './packages.ts'
import { createSessions, type Sessions, type SessionsOptions } from './sessions.ts'
import { type Callers, connect, createCallers, type SdkTransport } from './transport.ts'

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

export interface StartHTTPOptions extends Omit<SessionsOptions, 'sessionIdGenerator'> {
  /** Default: unguessable ids. Undefined, said explicitly: no sessions. */
  sessionIdGenerator?: (() => string) | undefined
  /** Switches to the stateless engine. Default false. */
  serverless?: boolean
}

export interface StartHTTP {
  server: MCPServer
  /** The request's URL, as far as its path matters. */
  url: URL
  /** The endpoint's path, `/mcp`. Other paths are answered 404. */
  httpPath: string
  req: IncomingMessage
  res: ServerResponse
  /** Those of the first call for a server count. */
  options?: StartHTTPOptions
}

export interface StartSSE {
  server: MCPServer
  url: URL
  /** Where clients open their stream, `/sse`. */
  ssePath: string
  /** Where they post messages, `/message`. */
  messagePath: string
  req: IncomingMessage
  res: ServerResponse
}

export interface StartHonoSSE extends Omit<StartSSE, 'req' | 'res'> {
  /** Hono's context. */
  context: { readonly req: { readonly raw: Request } }
}

interface SSETransport extends SdkTransport {
  readonly sessionId: string
  handlePostMessage(request: IncomingMessage, response: ServerResponse): Promise<void>
}

interface OpenStream {
  readonly transport: SSETransport
  readonly principal: string
}

interface Streams {
  /** By session id. */
  readonly open: Map<string, OpenStream>
  readonly callers: Callers
}

/** Streams of the deprecated transport that one server has open. */
const MAX_STREAMS = 1000

const sessionsOf = new WeakMap<MCPServer, Sessions>()
const streamsOf = new WeakMap<MCPServer, Streams>()

/** `toListener` is the adapter's own. */
export async function handleHTTP(
  { server, url, httpPath, req, res, options = {} }: StartHTTP,
  toListener: (server: FetchServer) => Listener,
): Promise<void> {
  if (url.pathname !== httpPath) return answer(res, 404, 'Not found')
  const { serverless = false, sessionIdGenerator, ...rest } = options
  const isStateless = serverless || ('sessionIdGenerator' in options && sessionIdGenerator === undefined)
  const done = new Promise<void>((resolve) => res.once('close', resolve))
  if (isStateless) toListener(server)(req, res)
  else {
    let sessions = sessionsOf.get(server)
    if (sessions === undefined) {
      const generator = sessionIdGenerator !== undefined && { sessionIdGenerator }
      sessions = createSessions(server, { ...rest, ...generator })
      sessionsOf.set(server, sessions)
    }
    toListener(sessions)(req, res)
  }
  await done
}

/**
 * Serves the deprecated HTTP+SSE transport (MCP 2024-11-05) through SDK v1's. Its clients are in a session by their stream.
 * Resolves when the response has ended.
 */
export async function startSSE({ server, url, ssePath, messagePath, req, res }: StartSSE): Promise<void> {
  const streams = streamsOf.get(server) ?? { open: new Map<string, OpenStream>(), callers: createCallers() }
  streamsOf.set(server, streams)
  const isStream = req.method === 'GET' && url.pathname === ssePath
  if (!isStream && !(req.method === 'POST' && url.pathname === messagePath))
    return answer(res, 404, 'Not found')
  const parts = server.getSessionParts()
  const admitted = await parts.admit(toHeaderRequest(url, req), { env: process.env })
  if (admitted instanceof Response) return relay(admitted, res)
  for (const [name, value] of Object.entries(admitted.headers)) res.setHeader(name, value)
  const principal = principalOf(admitted)
  if (!isStream) {
    const stream = streams.open.get(url.searchParams.get('sessionId') ?? '')
    if (stream === undefined || stream.principal !== principal) return answer(res, 404, 'Session not found')
    await stream.transport.handlePostMessage(
      Object.assign(req, { auth: streams.callers.toAuthInfo(admitted) }),
      res,
    )
    return
  }
  if (streams.open.size >= MAX_STREAMS) return answer(res, 503, 'Too many streams')
  const { SSEServerTransport } = await loadSse()
  const transport: SSETransport = new SSEServerTransport(messagePath, res)
  const session = connect(parts, transport, { env: process.env }, streams.callers.callerOf)
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      streams.open.delete(transport.sessionId)
      session.close()
      resolve()
    }
  })
  streams.open.set(transport.sessionId, { transport, principal })
  await transport.start()
  await closed
}

/** `startSSE` in a Hono app, on whatever runtime it is. */
export async function startHonoSSE({ context, ...rest }: StartHonoSSE): Promise<Response> {
  const { toReqRes, toFetchResponse } = await import('fetch-to-node')
  const { raw } = context.req
  const { req, res } = toReqRes(raw)
  raw.signal.addEventListener('abort', () => res.emit('close'), { once: true })
  const failed = new Promise<never>((_resolve, reject) => {
    startSSE({ ...rest, req, res }).catch(reject)
  })
  return Promise.race([toFetchResponse(res), failed])
}

/** Ends the sessions and streams that `startHTTP` and `startSSE` have opened for a server. */
export async function closeSessions(server: MCPServer): Promise<void> {
  await sessionsOf.get(server)?.close()
  sessionsOf.delete(server)
  const streams = [...(streamsOf.get(server)?.open.values() ?? [])]
  await Promise.all(streams.map(({ transport }) => transport.close()))
}

function toHeaderRequest(url: URL, { method = 'GET', headers }: IncomingMessage): Request {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) copied.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return new Request(url, { method, headers: copied })
}

async function relay(response: Response, res: ServerResponse): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers))
  res.end(await response.text())
}

function answer(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain' })
  res.end(text)
}
