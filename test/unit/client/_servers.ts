/** Real servers on loopback, of every kind that a client meets. Each is closed when its test ends. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { onTestFinished } from 'vitest'
import { serve } from '../../../adapters/node.ts'
import { MCPClient, type MCPClientConfig } from '../../../src/client.ts'
import { type FetchServer, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { createV1Server } from './_v1-server.ts'

/** A client that its test need not close. */
export function createClient<Name extends string>(config: MCPClientConfig<Name>): MCPClient<Name> {
  const client = new MCPClient(config)
  onTestFinished(() => client.disconnect())
  return client
}

export async function startFetchServer(server: FetchServer): Promise<string> {
  const { url, close } = await serve(server, { port: 0 })
  onTestFinished(close)
  return url
}

export function startMayfly(config: Partial<MCPServerConfig> = {}): Promise<string> {
  return startFetchServer(new MCPServer({ id: 'm', name: 'M', version: '1.0.0', log: false, ...config }))
}

/** A server on loopback until the test ends: its origin. */
export async function listen(listener: RequestListener): Promise<string> {
  const http = createServer(listener)
  // On a busy machine a connection would otherwise be closed just when it is used again.
  http.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

export interface SessionServer {
  readonly url: string
  /** The ids of the sessions that are open. */
  readonly sessions: Map<string, StreamableHTTPServerTransport>
  /** Every request: its method, or what it asks for. */
  readonly requests: string[]
}

/** The official SDK v1 with sessions, as its examples do it. */
export async function startSessionServer(unknownSession: 404 | 400 = 404): Promise<SessionServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const requests: string[] = []
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await createV1Server().connect(transport as Parameters<ReturnType<typeof createV1Server>['connect']>[0])
    return transport
  }
  const url = await listen(async (request, response) => {
    const body = request.method === 'POST' ? JSON.parse(await readText(request)) : undefined
    requests.push((body as { method?: string } | undefined)?.method ?? request.method ?? '')
    const id = request.headers['mcp-session-id']
    const transport = id === undefined ? await open() : sessions.get(String(id))
    if (transport === undefined) {
      const error = { code: -32001, message: 'Session not found' }
      response.writeHead(unknownSession, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
      return
    }
    await transport.handleRequest(request, response, body)
  })
  return { url: `${url}/mcp`, sessions, requests }
}

/** The official SDK v1 over the deprecated transport alone: POST to its address is refused with `refusal`. `drop` cuts its streams. */
export async function startSseServer(refusal = 404): Promise<{ url: string; drop(): void }> {
  const transports = new Map<string, SSEServerTransport>()
  const streams = new Set<ServerResponse>()
  const url = await listen(async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/sse' && request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response)
      transports.set(transport.sessionId, transport)
      streams.add(response)
      await createV1Server().connect(transport)
    } else if (pathname === '/messages') {
      await transports.get(searchParams.get('sessionId') ?? '')?.handlePostMessage(request, response)
    } else {
      response.writeHead(refusal).end()
    }
  })
  const drop = (): void => {
    for (const stream of streams) stream.destroy()
    transports.clear()
  }
  return { url: `${url}/sse`, drop }
}

/** A message to a server. */
export interface Asked {
  readonly id: unknown
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: each test looks at the members of its own messages.
  readonly params: any
  /** The body as it came. */
  readonly text: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Answers each request with the `result` or `error` that `answer` returns, and what it returns nothing for as a server that does not know
 * the method, unless `answer` has written the response. Other messages get 202, other HTTP methods than POST 405.
 *
 * @returns The origin.
 */
export function startAnswering(
  answer: (asked: Asked) => object | undefined | Promise<object | undefined>,
): Promise<string> {
  return listen(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const text = await readText(request)
    const { id, method, params } = JSON.parse(text)
    if (id === undefined) return void response.writeHead(202).end()
    const answered = await answer({ id, method, params, text, request, response })
    if (response.writableEnded) return
    const unknown = { error: { code: -32601, message: 'no' } }
    response.writeHead(answered === undefined ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(answered ?? unknown) }))
  })
}

/** Takes requests and never answers. */
export async function startHangingServer(): Promise<string> {
  return `${await listen(() => {})}/mcp`
}

/** An address that nothing listens on. */
export async function deadUrl(): Promise<string> {
  const { url, close } = await serve({ fetch: () => new Response() }, { port: 0 })
  await close()
  return url
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
