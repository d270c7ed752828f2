/**
 * `startHTTP`, `startSSE` and `startHonoSSE`: one call for each Node request, as other frameworks have them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { MCPServer } from '../../src/index.ts'
import { principalOf } from '../../src/protocol/asking.ts'
import type { FetchServer } from '../../src/request/platform.ts'
import { loadSse } from './packages.ts'
import { parseBody } from './parse-body.ts'
import { INVALID_REQUEST, refuse, SERVER_BUSY, SESSION_NOT_FOUND } from './response.ts'
import { createSessions, type Sessions, type SessionsOptions } from './sessions.ts'
import { connect, createSenders, type SdkTransport, type Senders } from './transport.ts'

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
  handlePostMessage(request: IncomingMessage, response: ServerResponse, message: unknown): Promise<void>
}

interface OpenStream {
  readonly transport: SSETransport
  readonly principal: string
}

type Parts = ReturnType<MCPServer['getSessionParts']>

interface Streams {
  /** By session id. */
  readonly open: Map<string, OpenStream>
  readonly senders: Senders
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
export async function startSSE(request: StartSSE): Promise<void> {
  const { server, res } = request
  const parts = server.getSessionParts()
  try {
    await serveSSE(request, parts)
  } catch (error) {
    parts.onFault(error)
    if (!res.headersSent) await relay(refuse(500, SERVER_BUSY, 'Internal error', {}), res)
  }
}

async function serveSSE(
  { server, url, ssePath, messagePath, req, res }: StartSSE,
  parts: Parts,
): Promise<void> {
  const streams = streamsOf.get(server) ?? { open: new Map<string, OpenStream>(), senders: createSenders() }
  streamsOf.set(server, streams)
  const isStream = req.method === 'GET' && url.pathname === ssePath
  if (!isStream && !(req.method === 'POST' && url.pathname === messagePath))
    return answer(res, 404, 'Not found')
  const { endpoint } = parts
  const clientAddress = req.socket?.remoteAddress
  const platform = { env: process.env, ...(clientAddress !== undefined && { clientAddress }) }
  const admitted = await endpoint.admit(toRequest(url, req), platform)
  if (admitted instanceof Response) return relay(admitted, res)
  for (const [name, value] of Object.entries(admitted.headers)) res.setHeader(name, value)
  const principal = principalOf(admitted)
  if (!isStream) {
    const stream = streams.open.get(url.searchParams.get('sessionId') ?? '')
    if (stream === undefined || stream.principal !== principal) {
      const refused = refuse(404, SESSION_NOT_FOUND, 'Session not found', admitted.headers)
      return relay(endpoint.log(refused, admitted), res)
    }
    const body = await endpoint.read(admitted)
    if (body instanceof Response) return relay(body, res)
    const message = parseBody(parts.engine, body, admitted.request)
    // The engine refuses it, and says why.
    if (message === undefined) return relay(await endpoint.answer(body, admitted), res)
    if (Array.isArray(message)) {
      const refused = refuse(
        400,
        INVALID_REQUEST,
        'Invalid request: send one message at a time.',
        admitted.headers,
      )
      return relay(endpoint.log(refused, admitted), res)
    }
    const sender = Object.assign(req, { auth: streams.senders.toAuthInfo(admitted) })
    await stream.transport.handlePostMessage(sender, res, message)
    // What it takes on is logged message by message.
    if (res.statusCode >= 400) endpoint.log(new Response(null, { status: res.statusCode }), admitted)
    return
  }
  if (streams.open.size >= MAX_STREAMS) {
    const refused = refuse(503, SERVER_BUSY, 'Too many streams: try again later.', admitted.headers)
    return relay(endpoint.log(refused, admitted), res)
  }
  const { SSEServerTransport } = await loadSse()
  const transport: SSETransport = new SSEServerTransport(messagePath, res)
  const session = connect(parts, transport, { env: process.env }, streams.senders.senderOf)
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      streams.open.delete(transport.sessionId)
      session.close()
      resolve()
    }
  })
  streams.open.set(transport.sessionId, { transport, principal })
  await transport.start()
  endpoint.log(new Response(), admitted)
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

function toRequest(url: URL, req: IncomingMessage): Request {
  const { method = 'GET' } = req
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  if (method !== 'POST') return new Request(url, { method, headers })
  // `duplex` is demanded for streams (Fetch standard), and missing from the types of Node's own fetch.
  const init = { method, headers, body: Readable.toWeb(req) as BodyInit, duplex: 'half' }
  return new Request(url, init as RequestInit)
}

async function relay(response: Response, res: ServerResponse): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers))
  res.end(await response.text())
}

function answer(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain' })
  res.end(text)
}
