/**
 * `startHTTP`, `startSSE` and `startHonoSSE`: one call for each Node request, as other frameworks have them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isMetadataPath } from '../../src/auth/location.ts'
import type { MCPServer } from '../../src/index.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'
import { nodeListener } from './listener.ts'
import { createSessions, type Sessions, type SessionsOptions } from './sessions.ts'
import { endStreams, serveSSE } from './sse.ts'

export interface StartHTTPOptions extends Omit<SessionsOptions, 'sessionIdGenerator'> {
  /** Default: unguessable ids. Undefined, said explicitly: no sessions. */
  sessionIdGenerator?: (() => string) | undefined
  /** Switches to the stateless engine. Default false. */
  serverless?: boolean
  /** Accepted: without sessions a response streams whenever there is something to stream. */
  serverlessStreaming?: true
}

export interface StartHTTP {
  server: MCPServer
  /** The request's URL, as far as its path matters. */
  url: URL
  /** The endpoint's path, `/mcp`. Other paths are answered 404, but for the OAuth metadata that a challenge names. */
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

const sessionsOf = new WeakMap<MCPServer, Sessions>()

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
export async function startHTTP({ server, url, httpPath, req, res, options = {} }: StartHTTP): Promise<void> {
  checkOptions(options)
  if (url.pathname !== httpPath && !isMetadata(req, url)) return answer(res, 404, 'Not found')
  // A look-alike that was made of a fetch request has none, where no Node request is without.
  if (req.headers.host === undefined) {
    req.headers.host = url.host
    req.rawHeaders.push('host', url.host)
  }
  const { serverless = false, serverlessStreaming: _, sessionIdGenerator, ...rest } = options
  const isStateless = serverless || ('sessionIdGenerator' in options && sessionIdGenerator === undefined)
  const done = ended(res)
  if (isStateless) nodeListener(server)(req, res)
  else {
    let sessions = sessionsOf.get(server)
    if (sessions === undefined) {
      const generator = sessionIdGenerator !== undefined && { sessionIdGenerator }
      sessions = createSessions(server, { ...rest, ...generator })
      sessionsOf.set(server, sessions)
    }
    nodeListener(sessions)(req, res)
  }
  await done
}

/**
 * Serves one Node request of the deprecated HTTP+SSE transport (MCP 2024-11-05): its stream, or a message beside it. Resolves when the
 * response has ended.
 */
export async function startSSE({ server, req, res, ...route }: StartSSE): Promise<void> {
  const done = ended(res)
  const handle = (request: Request, platform: RequestPlatform): Promise<Response> =>
    serveSSE(server, route, request, platform)
  nodeListener({ handle, fetch: (request, env) => handle(request, { env }) })(req, res)
  await done
}

/** `startSSE` in a Hono app, on whatever runtime it is. */
export function startHonoSSE({ server, context, ...route }: StartHonoSSE): Promise<Response> {
  return serveSSE(server, route, context.req.raw, { env: process.env })
}

/** Ends the sessions and streams that `startHTTP`, `startSSE` and `startHonoSSE` have opened for a server. */
export async function closeSessions(server: MCPServer): Promise<void> {
  await sessionsOf.get(server)?.close()
  sessionsOf.delete(server)
  endStreams(server)
}

/** Read alone: a POST is for the endpoint, under whatever path, and a guard of the host may stand before the endpoint's own path alone. */
function isMetadata({ method }: IncomingMessage, { pathname }: URL): boolean {
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return isRead && isMetadataPath(pathname)
}

/** A look-alike finishes, and never closes. */
function ended(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    // Its client may have left while the host's own code looked at the request.
    if (res.closed) return resolve()
    for (const event of ['close', 'finish']) res.once(event, () => resolve())
  })
}

/** What the transports of other frameworks are told here, and ours elsewhere. */
const ELSEWHERE: { readonly [option: string]: string } = {
  allowedHosts: 'write http: { allowedHosts } in the MCPServer',
  allowedOrigins: 'write http: { allowedOrigins } in the MCPServer',
  enableDnsRebindingProtection: 'write http: { allowedHosts } in the MCPServer',
  keepAliveMs: 'write http: { keepAliveMs } in the MCPServer',
}
const OPTIONS = [
  'serverless',
  'serverlessStreaming',
  'sessionIdGenerator',
  'onsessioninitialized',
  'onsessionclosed',
  'enableJsonResponse',
  'eventStore',
  'maxSessions',
  'idleMs',
]

/** @throws TypeError for an option that would be ignored. */
function checkOptions(options: object): void {
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option))
  if (unknown === undefined) return
  throw new TypeError(`startHTTP has no option "${unknown}": ${ELSEWHERE[unknown] ?? 'leave it out'}.`)
}

function answer(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain' })
  res.end(text)
}
