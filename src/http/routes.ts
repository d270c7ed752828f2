/** The routes besides the MCP endpoint: the health check, OAuth metadata and the page. */
import type { Auth } from '../auth/auth.ts'
import { part } from '../definition/part.ts'
import { BufferedReply, jsonReply } from '../protocol/reply.ts'
import type { Access } from '../request/access.ts'
import type { Received } from './admission.ts'
import { loadPage } from './load-page.ts'
import type { PageModel } from './page.ts'
import { describedResource, type PublicUrlOptions, publicEndpoint, publicUrlOf } from './public-url.ts'
import { refusal } from './refusal.ts'

export interface RouteOptions extends PublicUrlOptions {
  readonly auth: Auth | undefined
  readonly unknownAccess: Access | undefined
  readonly page: boolean
  readonly health: boolean
  /** The server's name, for OAuth metadata. */
  readonly name?: string
  /** Whether legacy clients open streams by GET, and end their sessions by DELETE. */
  readonly hasSessionStreams?: boolean
}

/** What a server shows on its page. */
export interface ServerDescription {
  /** `access`: what is open to everyone, if not everything is. */
  page(endpoint: string, access: Access | undefined, received: Received): PageModel | Promise<PageModel>
}

/** In a session, GET opens the stream and DELETE ends the session. */
export const SESSION_METHODS = 'GET, POST, DELETE, OPTIONS'

const HEALTHY = '{"status":"ok"}'

/** Answers a health check for any Host, since platforms probe by an internal address. It shows only that this process answers. */
export function healthResponse(
  { request, platform, headers }: Received,
  { health, trustProxy }: RouteOptions,
): BufferedReply | undefined {
  if (!health || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  // A cheap check first: most requests need no URL parsed.
  if (!request.url.includes('/healthz')) return undefined
  const { path } = publicUrlOf(request, platform, trustProxy)
  return path.endsWith('/healthz') ? jsonReply(HEALTHY, 200, headers) : undefined
}

/** Returns OAuth metadata (RFC 9728), without authentication; undefined for another path. `onResource` receives the named resource. */
export function metadataResponse(
  { request, platform, headers }: Received,
  options: RouteOptions,
  onResource: (resource: string) => void,
): BufferedReply | undefined {
  if (options.auth === undefined) return undefined
  const resource = describedResource(request, platform, options)
  if (resource === undefined) return undefined
  onResource(resource.resource)
  const { auth, name } = options
  return jsonReply(
    JSON.stringify(auth.metadata(name === undefined ? resource : { ...resource, name })),
    200,
    headers,
  )
}

/** Whether a GET asks for the page. */
export function wantsPage({ request, platform }: Received, { page, trustProxy }: RouteOptions): boolean {
  const { path } = publicUrlOf(request, platform, trustProxy)
  if (!page || isNowhere(path)) return false
  const accept = (request.headers.get('accept') ?? '').toLowerCase()
  return accept.includes('text/html') || (path === '/' && !accept.includes('text/event-stream'))
}

/** @throws ProtocolError if the server does not answer in time, and any error of the server. */
export async function pageResponse(
  received: Received,
  description: ServerDescription,
  options: RouteOptions,
): Promise<BufferedReply> {
  const { request, platform, headers } = received
  const endpoint = publicEndpoint(request, platform, options)
  const { PAGE_CSP, renderPage } = await part(loadPage)
  const model = await description.page(endpoint, options.auth?.anonymous ?? options.unknownAccess, received)
  return new BufferedReply(renderPage(model), 200, {
    ...headers,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_CSP,
  })
}

/** 404 for well-known paths that do not exist here; 405 for any other path and method. */
export function notServed({ request, platform, headers }: Received, options: RouteOptions): BufferedReply {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && isNowhere(publicUrlOf(request, platform, options.trustProxy).path))
    return new BufferedReply(null, 404, headers)
  const allow = methodsOf(options)
  return refusal(405, 'Method not allowed: this endpoint takes POST.', { ...headers, allow })
}

/** The methods that are served, for the `Allow` header. */
export function methodsOf({ page, health, hasSessionStreams }: RouteOptions): string {
  if (hasSessionStreams) return SESSION_METHODS
  return page || health ? 'GET, POST, OPTIONS' : 'POST, OPTIONS'
}

function isNowhere(path: string): boolean {
  return /\/\.well-known\/|\/favicon\.ico$/.test(path)
}
