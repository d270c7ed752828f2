/**
 * `startHTTP`, `startSSE` and `startHonoSSE`: each serves one request, as in other frameworks.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isMetadataPath } from '../../src/auth/location.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { type Names, refuseUnknown, requireOptions } from '../../src/definition/unknown-option.ts'
import type { MCPServer } from '../../src/index.ts'
import { executionContextOf, platformOf, type RequestPlatform } from '../../src/request/platform.ts'
import { createListener, nodeListener } from './listener.ts'
import { urlOf } from './request.ts'
import { createSessions, SESSIONS_OPTIONS, type Sessions, type SessionsOptions } from './sessions.ts'
import { endStreams, serveSSE } from './sse.ts'

/** The `options` of `startHTTP`. */
export interface StartHTTPOptions extends Omit<SessionsOptions, 'sessionIdGenerator'> {
  /** Creates session ids. Default: random ids. Explicitly undefined: no sessions. */
  sessionIdGenerator?: (() => string) | undefined
  /** Serves statelessly. Default false. */
  serverless?: boolean
  /** Accepted for compatibility: without sessions, a response streams whenever there is something to stream. */
  serverlessStreaming?: true
}

/** The argument of `startHTTP`. */
export interface StartHTTP {
  server: MCPServer
  /** The request's URL, of which only the path is used. Default: the path of `req.url`, or 400 without one. */
  url?: URL
  /** The path of the endpoint, `/mcp`. Other paths are answered 404, except that of the OAuth metadata. */
  httpPath: string
  req: IncomingMessage
  res: ServerResponse
  /** The options of the first call for a server apply to all later ones. */
  options?: StartHTTPOptions
}

/** The argument of `startSSE`. */
export interface StartSSE {
  server: MCPServer
  /** The request's URL, of which the path and the query are used. Default: those of `req.url`, or 400 without a path. */
  url?: URL
  /** The path where clients open their stream, `/sse`. */
  ssePath: string
  /** The path to which clients post messages, `/message`. */
  messagePath: string
  req: IncomingMessage
  res: ServerResponse
}

/** The argument of `startHonoSSE`. */
export interface StartHonoSSE extends Omit<StartSSE, 'req' | 'res'> {
  /** Hono's context. */
  context: {
    readonly req: { readonly raw: Request }
    readonly env?: unknown
    readonly executionCtx?: unknown
  }
}

const sessionsOf = new WeakMap<MCPServer, Sessions>()

/**
 * Serves one Node request of an `MCPServer`, with sessions unless `options.serverless` is set. Resolves when the response has ended.
 *
 * @throws TypeError for an unsupported option.
 *
 * ```ts
 * createServer((req, res) => void startHTTP({ server, httpPath: '/mcp', req, res }))
 * ```
 */
export async function startHTTP(given: StartHTTP): Promise<void> {
  requireOptions('The argument of startHTTP', given, HTTP, 'server', 'req', 'res', 'httpPath')
  const { server, httpPath, req, res, options = {} } = given
  checkOptions(options)
  const url = given.url ?? urlOf(req)
  if (url === undefined) return answer(res, 400, 'Bad request')
  const isServed = url.pathname === httpPath || isMetadata(req, url) || (await isOfAuth(server, url))
  if (!isServed) return answer(res, 404, 'Not found')
  // A request created from a fetch request may lack `host`, which every Node request has.
  if (req.headers.host === undefined) {
    req.headers.host = url.host
    req.rawHeaders.push('host', url.host)
  }
  const { serverless = false, serverlessStreaming: _, sessionIdGenerator, ...rest } = options
  const isStateless = serverless || ('sessionIdGenerator' in options && sessionIdGenerator === undefined)
  const done = ended(res)
  if (serverless) createListener(server, {}, () => {}, false)(req, res)
  else if (isStateless) nodeListener(server)(req, res)
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
 * Serves one Node request of the deprecated HTTP+SSE transport (MCP 2024-11-05): the stream, or a message for it. Resolves when the
 * response has ended.
 */
export async function startSSE(given: StartSSE): Promise<void> {
  requireOptions('startSSE', given, SSE, 'server', 'req', 'res', 'ssePath', 'messagePath')
  const { server, req, res, ssePath, messagePath } = given
  const url = given.url ?? urlOf(req)
  if (url === undefined) return answer(res, 400, 'Bad request')
  const route = { url, ssePath, messagePath }
  const done = ended(res)
  const handle = (request: Request, platform: RequestPlatform): Promise<Response> =>
    serveSSE(server, route, request, platform)
  nodeListener({ handle, fetch: (request, env) => handle(request, { env }) })(req, res)
  await done
}

/** `startSSE` for a Hono app, on any runtime. */
export async function startHonoSSE(given: StartHonoSSE): Promise<Response> {
  if (isObject(given) && ('req' in given || 'res' in given) && !('context' in given))
    throw new TypeError(
      'startHonoSSE takes the context of Hono: write app.all(path, (c) => startHonoSSE({ …, context: c })), or call startSSE with req and res.',
    )
  requireOptions('startHonoSSE', given, HONO_SSE, 'server', 'context', 'ssePath', 'messagePath')
  const { server, context, ssePath, messagePath } = given
  const { raw } = context.req
  const route = { url: given.url ?? new URL(raw.url), ssePath, messagePath }
  const platform = platformOf(context.env, executionContextOf(context), raw)
  return serveSSE(server, route, raw, { ...platform, env: process.env })
}

/** The sessions of `startHTTP`; undefined before its first call, and without sessions. */
export function sessionsFor(server: MCPServer): Sessions | undefined {
  return sessionsOf.get(server)
}

/** Ends the sessions and streams that `startHTTP`, `startSSE` and `startHonoSSE` have opened for a server. */
export async function closeSessions(server: MCPServer): Promise<void> {
  await sessionsOf.get(server)?.close()
  sessionsOf.delete(server)
  endStreams(server)
}

/** Only for reads: a POST to any path is for the endpoint, and the host may guard only the endpoint's own path. */
function isMetadata({ method }: IncomingMessage, { pathname }: URL): boolean {
  const isRead = method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
  return isRead && isMetadataPath(pathname)
}

/** Whether `auth` answers a path itself, such as that of an authorization server. */
function isOfAuth(server: MCPServer, url: URL): Promise<boolean> {
  return server.getSessionParts().endpoint.owns(new Request(url), { env: process.env })
}

/** A request created from a fetch request emits `finish`, but never `close`. */
function ended(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    // The client may have disconnected while the host's own code ran.
    if (res.closed) return resolve()
    for (const event of ['close', 'finish']) res.once(event, () => resolve())
  })
}

/** Options that other frameworks have here, and where Mayfly has them. */
const ELSEWHERE: { readonly [option: string]: string } = {
  allowedHosts: 'write http: { allowedHosts } in the MCPServer',
  allowedOrigins: 'write http: { allowedOrigins } in the MCPServer',
  enableDnsRebindingProtection: 'write http: { allowedHosts } in the MCPServer',
  keepAliveMs: 'write http: { keepAliveMs } in the MCPServer',
}
const OPTIONS: Names<StartHTTPOptions> = {
  ...SESSIONS_OPTIONS,
  serverless: 'boolean',
  serverlessStreaming: 'boolean',
}
const COMMON = { server: 'object', url: 'object', req: 'object', res: 'object' } as const
const HTTP: Names<StartHTTP> = { ...COMMON, httpPath: 'string', options: 'object' }
const SSE: Names<StartSSE> = { ...COMMON, ssePath: 'string', messagePath: 'string' }
const HONO_SSE: Names<StartHonoSSE> = {
  server: 'object',
  url: 'object',
  ssePath: 'string',
  messagePath: 'string',
  context: 'object',
}

/** @throws TypeError for an option that would be ignored. */
function checkOptions(options: object): void {
  const moved = Object.keys(options).find((option) => Object.hasOwn(ELSEWHERE, option))
  if (moved !== undefined) throw new TypeError(`startHTTP has no option "${moved}": ${ELSEWHERE[moved]}.`)
  refuseUnknown('startHTTP', options, OPTIONS)
}

function answer(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'content-type': 'text/plain' })
  res.end(text)
}
