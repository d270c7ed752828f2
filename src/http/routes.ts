/**
 * What is served beside the MCP endpoint: the health check, OAuth metadata and the page.
 */
import type { Auth } from '../auth/auth.ts'
import { jsonReply, Whole } from '../protocol/reply.ts'
import type { Access } from '../request/access.ts'
import type { Received } from './admission.ts'
import { PAGE_CSP, type PageModel, renderPage } from './page.ts'
import { describedResource, type PublicUrlOptions, publicEndpoint, publicUrlOf } from './public-url.ts'
import { refusal } from './refusal.ts'

export interface RouteOptions extends PublicUrlOptions {
  readonly auth: Auth | undefined
  readonly page: boolean
  readonly health: boolean
}

/** What a server shows of itself on its page. */
export interface ServerDescription {
  /** `access`: what is open to everybody, where the server has `auth`. */
  page(endpoint: string, access: Access | undefined, visit: Received): PageModel | Promise<PageModel>
}

const HEALTHY = '{"status":"ok"}'

/**
 * Answers a health check, whatever its Host: platforms probe by an internal address. It says nothing but that this process
 * answers.
 */
export function healthResponse(
  { request, platform, headers }: Received,
  { health, trustProxy }: RouteOptions,
): Whole | undefined {
  if (!health || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  // Most requests that are no health check do not end so, and need no URL parsed.
  if (!request.url.includes('/healthz')) return undefined
  const { path } = publicUrlOf(request, platform, trustProxy)
  return path.endsWith('/healthz') ? jsonReply(HEALTHY, 200, headers) : undefined
}

/** OAuth metadata (RFC 9728), open to everybody; undefined for another path. `onResource` is told the resource that it names. */
export function metadataResponse(
  { request, platform, headers }: Received,
  options: RouteOptions,
  onResource: (resource: string) => void,
): Whole | undefined {
  if (options.auth === undefined) return undefined
  const resource = describedResource(request, platform, options)
  if (resource === undefined) return undefined
  onResource(resource.resource)
  return jsonReply(JSON.stringify(options.auth.metadata(resource)), 200, headers)
}

/** Whether a GET asks for the page. */
export function wantsPage({ request, platform }: Received, { page, trustProxy }: RouteOptions): boolean {
  const { path } = publicUrlOf(request, platform, trustProxy)
  if (!page || isNowhere(path)) return false
  const accept = (request.headers.get('accept') ?? '').toLowerCase()
  return accept.includes('text/html') || (path === '/' && !accept.includes('text/event-stream'))
}

/** @throws ProtocolError where the server gives no answer in time; whatever it throws. */
export async function pageResponse(
  visit: Received,
  description: ServerDescription,
  options: RouteOptions,
): Promise<Whole> {
  const { request, platform, headers } = visit
  const endpoint = publicEndpoint(request, platform, options)
  const model = await description.page(endpoint, options.auth?.anonymous, visit)
  return new Whole(renderPage(model), 200, {
    ...headers,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_CSP,
  })
}

/** 404 where clients and browsers look for what is not there; 405 for any other path and method. */
export function notServed({ request, platform, headers }: Received, options: RouteOptions): Whole {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && isNowhere(publicUrlOf(request, platform, options.trustProxy).path))
    return new Whole(null, 404, headers)
  const allow = methodsOf(options)
  return refusal(405, 'Method not allowed: this endpoint takes POST.', { ...headers, allow })
}

/** The methods that are served. */
export function methodsOf({ page, health }: RouteOptions): string {
  return page || health ? 'GET, POST, OPTIONS' : 'POST, OPTIONS'
}

function isNowhere(path: string): boolean {
  return /\/\.well-known\/|\/favicon\.ico$/.test(path)
}
