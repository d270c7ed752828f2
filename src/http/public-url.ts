/**
 * Where clients reach this server: explicit, else as the platform says, with forwarded headers only where they are trusted.
 */
import type { RequestPlatform } from '../request/platform.ts'

export interface PublicUrlOptions {
  /** The URL of the MCP endpoint as clients see it. Undefined: found from the request. */
  readonly publicUrl: string | undefined
  /** Whether a proxy of one's own sets `X-Forwarded-*`: a client that reaches the server past it could set them too. */
  readonly trustProxy: boolean
}

/** One request's address, as its client wrote it. */
export interface PublicUrl {
  /** `https://shop.example` */
  readonly origin: string
  /** What stands before the server's own path: the platform's prefix and the proxy's. No slash at the end; may be empty. */
  readonly prefix: string
  /** The server's own path, with the slash it starts with. */
  readonly path: string
}

/** A forwarded path is put into URLs that clients are shown: nothing but a plain path is taken. */
const PLAIN_PREFIX = /^(?:\/[\w.~-]+)+$/

/** `host` or `host:port`, an IPv6 address in brackets included. */
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Reads `X-Forwarded-Host`, `-Proto` and `-Prefix` only where `trustProxy` is set; what is malformed there is ignored. */
export function publicUrlOf(request: Request, platform: RequestPlatform, trustProxy: boolean): PublicUrl {
  const { origin, pathname } = new URL(request.url)
  const prefix = platform.prefix ?? ''
  const path = ownPath(pathname, prefix)
  if (!trustProxy) return { origin, prefix, path }
  const forwardedPrefix = forwarded(request.headers, 'prefix')?.replace(/\/+$/, '') ?? ''
  return {
    origin: forwardedOrigin(request.headers, origin),
    prefix: (PLAIN_PREFIX.test(forwardedPrefix) ? forwardedPrefix : '') + prefix,
    path,
  }
}

/** The MCP endpoint as clients see it. It answers under any path; at the root the conventional one is named. */
export function publicEndpoint(
  request: Request,
  platform: RequestPlatform,
  options: PublicUrlOptions,
): string {
  if (options.publicUrl !== undefined) return options.publicUrl
  const { origin, prefix, path } = publicUrlOf(request, platform, options.trustProxy)
  return origin + prefix + (path === '/' ? '/mcp' : path.replace(/\/$/, ''))
}

/** The host a client addressed: what the guard compares. */
export function publicHost(headers: Headers, url: string, trustProxy: boolean): string {
  const host = (trustProxy && forwarded(headers, 'host')) || headers.get('host') || new URL(url).host
  return host.toLowerCase()
}

/** The caller's address: the one the nearest proxy saw, where that proxy is trusted. */
export function callerAddress(
  headers: Headers,
  platform: RequestPlatform,
  trustProxy: boolean,
): string | undefined {
  // The last entry is the proxy's own; those before it are whatever the client sent.
  const seen = trustProxy ? headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return seen || platform.clientAddress
}

function forwardedOrigin(headers: Headers, origin: string): string {
  const own = new URL(origin)
  const host = forwarded(headers, 'host') ?? own.host
  const protocol = forwarded(headers, 'proto')?.toLowerCase() ?? own.protocol.slice(0, -1)
  if (!PLAIN_HOST.test(host) || (protocol !== 'http' && protocol !== 'https')) return origin
  return `${protocol}://${host.toLowerCase()}`
}

/** The nearest proxy's value: each one appends its own. */
function forwarded(headers: Headers, name: 'host' | 'proto' | 'prefix'): string | undefined {
  return headers.get(`x-forwarded-${name}`)?.split(',').at(-1)?.trim() || undefined
}

function ownPath(pathname: string, prefix: string): string {
  if (prefix === '' || !(pathname === prefix || pathname.startsWith(`${prefix}/`))) return pathname
  return pathname.slice(prefix.length) || '/'
}
