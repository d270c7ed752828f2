/** The servers that `mayfly check` is tried on: ours, the official ones, and ours with one thing broken. All on real sockets. */
import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createMcpHandler, McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { McpServer as LiteServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { createSessions, type FetchServer, serve } from '../../adapters/node.ts'
import type { Verdict } from '../../deploy/check/outcome.ts'
import { type Report, type Result, runProbes } from '../../deploy/check/run.ts'
import { createMemoryBus, createTool, MCPServer, type MCPServerConfig } from '../../src/index.ts'
import { fromSdk } from '../../src/sdk.ts'

/** Closed by `await using`. */
export interface Running extends AsyncDisposable {
  readonly url: URL
}

const echo = createTool({
  id: 'echo',
  description: 'Says what it is told',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text,
})

export function createMayfly(config: Partial<MCPServerConfig> = {}): MCPServer {
  return new MCPServer({
    id: 'shop',
    name: 'Shop',
    version: '1.2.3',
    tools: { echo },
    prompts: { hello: { description: 'Greets', get: () => 'Hello' } },
    resources: { note: { uri: 'note://1', read: () => 'A note' } },
    log: false,
    ...config,
  })
}

/** As on a platform that keeps no process: without `bus` nobody hears of changes. */
export function mayfly(config: Partial<MCPServerConfig> = {}): Promise<Running> {
  return broken((request, next) => next(request), config)
}

/** As `startHTTP` and `serve` run it: the process is its bus. */
export function mayflyProcess(): Promise<Running> {
  return serveFetch(createMayfly())
}

export function mayflyWithBus(): Promise<Running> {
  return mayfly({ bus: createMemoryBus() })
}

/** What is under test sees the request before Mayfly does, and may answer in its place or change what it answers. */
export type Breakage = (
  request: Request,
  next: (request?: Request) => Promise<Response>,
) => Response | Promise<Response>

export function broken(change: Breakage, config: Partial<MCPServerConfig> = {}): Promise<Running> {
  const server = createMayfly(config)
  return serveFetch({
    fetch: () => new Response(null, { status: 500 }),
    handle: async (request, platform) =>
      change(request, (changed = request) => server.handle(changed, { ...platform, isLongLived: false })),
  })
}

function createV2(): McpServerV2 {
  const server = new McpServerV2({ name: 'Official', version: '2.0.0' })
  const inputSchema = z.object({ text: z.string() })
  server.registerTool('echo', { description: 'Says what it is told', inputSchema }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  return server
}

/** The official SDK v2, as its documentation shows it: no middleware in front. */
export function sdkV2(legacy: 'stateless' | 'reject' = 'stateless'): Promise<Running> {
  const handler = createMcpHandler(createV2, { legacy })
  return serveFetch({ fetch: (request) => handler.fetch(request) })
}

/** The same behind our guard. */
export function sdkV2BehindOurs(): Promise<Running> {
  return serveFetch(fromSdk(createV2, { log: false }))
}

/** In a process that lives long. */
export function mayflySessions(): Promise<Running> {
  return serveFetch(createSessions(createMayfly()))
}

function createV1(): McpServerV1 {
  const server = new McpServerV1({ name: 'Official', version: '1.0.0' })
  const inputSchema = { text: z.string() }
  server.registerTool('echo', { description: 'Says what it is told', inputSchema }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  return server
}

/** The official SDK v1 without sessions, as its example shows it: POST alone, a server a request. */
export function sdkV1Stateless(): Promise<Running> {
  return listen(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","error":{"code":-32000,"message":"Method not allowed."},"id":null}')
      return
    }
    const server = createV1()
    // Absent would do, but for the types of the SDK under exactOptionalPropertyTypes; so too the cast below.
    const transport = new StreamableHTTPServerTransport()
    response.once('close', () => void server.close())
    await server.connect(transport as Transport)
    await transport.handleRequest(request, response)
  })
}

/** The official SDK v1 with sessions in memory; `unknownStatus` answers a session that is not there. */
export function sdkV1Sessions(unknownStatus: 400 | 404): Promise<Running & { readonly open: () => number }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (id !== undefined && known === undefined) {
      response.writeHead(unknownStatus, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
      return
    }
    await (known ?? (await openSession(sessions))).handleRequest(request, response)
  }
  return listen(handle).then((running) => ({ ...running, open: () => sessions.size }))
}

async function openSession(
  sessions: Map<string, StreamableHTTPServerTransport>,
): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  })
  await createV1().connect(transport as Transport)
  return transport
}

/** mcp-lite, as its documentation shows it, on Node. */
export function mcpLite(): Promise<Running> {
  const server = new LiteServer({
    name: 'Lite',
    version: '1.0.0',
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  server.tool('echo', {
    description: 'Says what it is told',
    inputSchema: z.object({ text: z.string() }),
    handler: ({ text }) => ({ content: [{ type: 'text', text }] }),
  })
  const handler = new StreamableHttpTransport().bind(server)
  return serveFetch({ fetch: (request) => handler(request) })
}

export async function serveFetch(server: FetchServer): Promise<Running> {
  const { url, close } = await serve(server, { port: 0, env: {} })
  return { url: new URL(url), [Symbol.asyncDispose]: close }
}

/** A listener by hand, for what no framework would do; its connections are dropped at the end. */
export async function listen(listener: RequestListener): Promise<Running> {
  return listenOn(createServer(listener), 'http')
}

export async function listenOn(server: Server | NetServer, scheme: 'http' | 'https'): Promise<Running> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: new URL(`${scheme}://127.0.0.1:${port}/mcp`),
    [Symbol.asyncDispose]: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A message of the request, without using it up. */
export async function methodOf(request: Request): Promise<unknown> {
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined)
  return (body as { method?: unknown } | undefined)?.method
}

/** The answer with members of its JSON result or error changed. */
export async function withJson(
  response: Response,
  change: (message: Record<string, Record<string, unknown>>) => unknown,
): Promise<Response> {
  if (response.headers.get('content-type') !== 'application/json') return response
  const changed = change((await response.json()) as Record<string, Record<string, unknown>>)
  return Response.json(changed, { status: response.status, headers: response.headers })
}

export function withHeaders(
  response: Response,
  changes: { readonly [name: string]: string | undefined },
): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  return new Response(response.body, { status: response.status, headers })
}

export const TOKEN = 'the-right-token-of-the-test'

export interface ProtectedOptions {
  /** Of the challenge. Default: with the URL of the metadata. */
  readonly challenge?: (metadataUrl: string) => string | undefined
  /** Members of the protected resource metadata; undefined leaves one out. */
  readonly metadata?: { readonly [name: string]: unknown }
  /** Where the metadata is, after the well-known path. Default `/mcp`, which is right. */
  readonly place?: string
  /** Members of the authorization server's metadata. */
  readonly server?: { readonly [name: string]: unknown }
  /** Status for a token that is not right. Default 401. */
  readonly invalidStatus?: number
}

/** Mayfly behind a bearer token, and its authorization server's metadata beside it. */
export function protectedServer(options: ProtectedOptions = {}): Promise<Running> {
  const {
    challenge = (url) => `Bearer resource_metadata="${url}"`,
    invalidStatus = 401,
    place = '/mcp',
  } = options
  return broken((request, next) => {
    const { origin, pathname, href } = new URL(request.url)
    if (pathname === '/.well-known/oauth-authorization-server') {
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
        ...options.server,
      })
    }
    if (pathname === `/.well-known/oauth-protected-resource${place}`) {
      const document = { resource: `${origin}/mcp`, authorization_servers: [origin] }
      return Response.json({ ...document, ...options.metadata })
    }
    const token = request.headers.get('authorization')
    if (request.method === 'OPTIONS' || token === `Bearer ${TOKEN}` || href.includes('/.well-known/'))
      return next()
    if (token !== null && invalidStatus !== 401) return new Response(null, { status: invalidStatus })
    const header = challenge(`${origin}/.well-known/oauth-protected-resource${place}`)
    const headers = {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'www-authenticate',
      'x-content-type-options': 'nosniff',
    }
    return new Response(null, {
      status: 401,
      headers: { ...headers, ...(header !== undefined && { 'www-authenticate': header }) },
    })
  })
}

/** An id of a probe, and what it came to. */
export type Expected = readonly [id: string, verdict: Verdict]

export function check(url: URL, bearer?: string, timeoutMs = 5000): Promise<Report> {
  return runProbes({ url, bearer, headers: {}, timeoutMs, origin: undefined })
}

/** What is not as it should be. */
export function found({ results }: Report): Result[] {
  return results.filter(({ verdict }) => verdict === 'degrades' || verdict === 'wrong')
}

export function asExpected(results: readonly Result[]): Expected[] {
  return results.map(({ id, verdict }): Expected => [id, verdict]).toSorted()
}
