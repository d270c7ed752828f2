/**
 * The deprecated HTTP+SSE transport (MCP 2024-11-05): a client opens a stream, and posts its messages in separate requests. Based on
 * fetch, so that it is the same on Node and in Hono.
 */

import { createShares, fullAnswer, type Shares } from '../../src/definition/shares.ts'
import type { MCPServer } from '../../src/index.ts'
import { createBoundedBody } from '../../src/protocol/bounded-body.ts'
import type { Admitted } from '../../src/protocol/engine-options.ts'
import { createSession, type Session } from '../../src/protocol/session.ts'
import { SSE_HEADERS, sseEvent } from '../../src/protocol/sse-response.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'
import { principalOf } from '../../src/request/principal.ts'
import { atExpiry } from './expiry.ts'
import { parseBody } from './parse-body.ts'
import { INVALID_REQUEST, refuse, SERVER_BUSY, SESSION_NOT_FOUND } from './response.ts'

export interface SSERoute {
  readonly url: URL
  readonly ssePath: string
  readonly messagePath: string
}

interface OpenStream {
  readonly session: Session
  /** The owner: for another principal the stream does not exist. */
  readonly principal: string
  /** Messages that are being answered, and when the last one came or was answered, in milliseconds since the epoch. */
  running: number
  usedAt: number
  end(): void
}

type Parts = ReturnType<MCPServer['getSessionParts']>

interface Streams {
  /** By session id. */
  readonly open: Map<string, OpenStream>
  readonly shares: Shares
}

/** Maximum open streams of one server. */
const MAX_STREAMS = 1000

/** Milliseconds without a message after which a stream may be ended for another one. */
const KEPT_MS = 30_000

/** By server. */
const streamsOf = new WeakMap<MCPServer, Streams>()

/** Answers a request for the stream, or a message for it. Never rejects. */
export async function serveSSE(
  server: MCPServer,
  { url, ssePath, messagePath }: SSERoute,
  request: Request,
  platform: RequestPlatform,
): Promise<Response> {
  const isStream = request.method === 'GET' && url.pathname === ssePath
  if (!isStream && !(request.method === 'POST' && url.pathname === messagePath)) {
    return new Response('Not found', { status: 404, headers: { 'content-type': 'text/plain' } })
  }
  const parts = server.getSessionParts()
  const streams: Streams = streamsOf.get(server) ?? {
    open: new Map(),
    shares: createShares(MAX_STREAMS, parts.endpoint.sharing.callerShare),
  }
  streamsOf.set(server, streams)
  // `@hono/node-server` 1 makes the signal when it is first read: made after the client has left, it would never abort.
  void request.signal
  try {
    const admitted = await parts.endpoint.admit(request, platform)
    if (admitted instanceof Response) return admitted
    if (isStream) return open(messagePath, streams, admitted, parts)
    const principal = principalOf(admitted)
    const find = (): OpenStream | undefined => {
      const stream = streams.open.get(url.searchParams.get('sessionId') ?? '')
      return stream?.principal === principal ? stream : undefined
    }
    return await receiveMessage(find, admitted, parts)
  } catch (error) {
    parts.onFault(error)
    return refuse(500, SERVER_BUSY, 'Internal error', {})
  }
}

/** An open stream, for tests and checks. */
export interface SSETransport {
  readonly sessionId: string
  /** Ends the stream. */
  close(): Promise<void>
}

/** The stream of a server with this id, or the one that was opened last; undefined if it is not open. */
export function sseTransportOf(server: MCPServer, sessionId?: string): SSETransport | undefined {
  const open = streamsOf.get(server)?.open
  const id = sessionId ?? [...(open?.keys() ?? [])].at(-1)
  const stream = id === undefined ? undefined : open?.get(id)
  return stream && { sessionId: id!, close: async () => stream.end() }
}

/** Ends the open streams of a server. */
export function endStreams(server: MCPServer): void {
  for (const { end } of streamsOf.get(server)?.open.values() ?? []) end()
}

function open(messagePath: string, streams: Streams, admitted: Admitted, parts: Parts): Response {
  const { headers, platform, request } = admitted
  const { signal } = request
  // The client disconnected during admission, and no later event would report it.
  if (signal.aborted) return parts.endpoint.log(new Response(null, { status: 499, headers }), admitted)
  const id = crypto.randomUUID()
  const place = streams.shares.take(parts.endpoint.sharing.callerOf(admitted), 1, {
    idleSince() {
      const { running, usedAt } = streams.open.get(id)!
      return running === 0 && Date.now() - usedAt >= KEPT_MS ? usedAt : undefined
    },
    evict: () => end(),
  })
  if (typeof place === 'string') {
    const { status, message, headers: more } = fullAnswer(place, 'streams', '', KEPT_MS / 1000)
    return parts.endpoint.log(refuse(status, SERVER_BUSY, message, { ...headers, ...more }), admitted)
  }
  const encoder = new TextEncoder()
  const end = (): void => {
    if (!streams.open.delete(id)) return
    place.free()
    signal.removeEventListener('abort', end)
    stopWaiting()
    session.close()
    stream.end()
  }
  const stopWaiting = atExpiry(admitted, end)
  const stream = createBoundedBody(end)
  const send = (text: string): void => stream.write(encoder.encode(text))
  const session = createSession(parts, {
    id: () => id,
    platform,
    streamOwner: () => admitted,
    send: (message) => send(sseEvent(JSON.stringify(message))),
  })
  streams.open.set(id, { session, principal: principalOf(admitted), running: 0, usedAt: Date.now(), end })
  signal.addEventListener('abort', end, { once: true })
  send(`event: endpoint\ndata: ${endpointOf(messagePath, id)}\n\n`)
  return parts.endpoint.log(new Response(stream.body, { headers: { ...headers, ...SSE_HEADERS } }), admitted)
}

/** A message is acknowledged immediately; its answer is sent on the stream. */
async function receiveMessage(
  find: () => OpenStream | undefined,
  admitted: Admitted,
  { endpoint, engine }: Parts,
): Promise<Response> {
  const { headers, request } = admitted
  const unknown = (): Response =>
    endpoint.log(refuse(404, SESSION_NOT_FOUND, 'Session not found', headers), admitted)
  if (find() === undefined) return unknown()
  const body = await endpoint.read(admitted)
  if (body instanceof Response) return body
  const message = parseBody(engine, body, request)
  // The engine refuses the body, with the reason.
  if (message === undefined) return endpoint.answer(body, admitted)
  if (Array.isArray(message)) {
    const reason = 'Invalid request: send one message at a time.'
    return endpoint.log(refuse(400, INVALID_REQUEST, reason, headers), admitted)
  }
  // The stream may have ended while the body arrived.
  const stream = find()
  if (stream === undefined) return unknown()
  const use = (change: 1 | -1): void => {
    stream.running += change
    stream.usedAt = Date.now()
  }
  use(1)
  void stream.session.receive(message, admitted).finally(() => use(-1))
  return new Response('Accepted', { status: 202, headers: { ...headers, 'content-type': 'text/plain' } })
}

/** The path to which a client posts its messages, relative to the origin of the stream. */
function endpointOf(messagePath: string, id: string): string {
  const url = new URL(messagePath, 'http://localhost')
  url.searchParams.set('sessionId', id)
  return url.pathname + url.search + url.hash
}
