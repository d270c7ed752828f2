/**
 * Where clients reach this server: explicit, else as the platform says, with forwarded headers only where they are trusted.
 */
import type { ResourceLocation } from '../auth/auth.ts'
import { isMetadataPath, METADATA_PATH } from '../auth/location.ts'
import { isLoopbackAddress, toAddress } from '../request/address.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { isOneOf, servedHosts } from './hosts.ts'

export interface PublicUrlOptions {
  /** The URL of the MCP endpoint as clients see it. Undefined: found from the request. */
  readonly publicUrl: string | undefined
  /** Hosts served. Undefined: `MAYFLY_ALLOWED_HOSTS`, else any. */
  readonly allowedHosts: readonly string[] | undefined
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

/** The endpoint answers under any path; this one is named where a client has not come by one. */
const DEFAULT_PATH = '/mcp'

/** A forwarded path is put into URLs that clients are shown: nothing but a plain path is taken, and no `..` that they would resolve. */
const PLAIN_PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/

/** `host` or `host:port`, an IPv6 address in brackets included. */
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Reads `X-Forwarded-Host`, `-Proto` and `-Prefix` only where `trustProxy` is set; what is malformed there is ignored. */
export function publicUrlOf(request: Request, platform: RequestPlatform, trustProxy: boolean): PublicUrl {
  const { origin, pathname } = new URL(request.url)
  const prefix = platform.prefix ?? ''
  const path = ownPath(pathname, prefix)
  if (!trustProxy) return { origin, prefix, path }
  const forwardedPrefix = withoutSlashes(forwarded(request.headers, 'prefix') ?? '')
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
  return origin + prefix + (withoutSlashes(path) || DEFAULT_PATH)
}

/** The protected resource that a request is for, and where its metadata is found (RFC 9728 §3.1). */
export function resourceLocation(
  request: Request,
  platform: RequestPlatform,
  options: PublicUrlOptions,
): ResourceLocation {
  const { path } = publicUrlOf(request, platform, options.trustProxy)
  return locate(withoutSlashes(path), request, platform, options)
}

/**
 * The resource whose metadata a request asks for: its path stands after the well-known one (RFC 9728 §3.1), or is left out, as
 * older clients do. Undefined for any other path, and for another resource than the one `publicUrl` names.
 */
export function describedResource(
  request: Request,
  platform: RequestPlatform,
  options: PublicUrlOptions,
): ResourceLocation | undefined {
  const { path } = publicUrlOf(request, platform, options.trustProxy)
  if (!isMetadataPath(path)) return undefined
  const own = withoutSlashes(path.slice(METADATA_PATH.length))
  const { publicUrl } = options
  const isForeign = publicUrl !== undefined && !pathOf(publicUrl).endsWith(own)
  return isForeign ? undefined : locate(own, request, platform, options)
}

/**
 * Behind a prefix the well-known path comes after it: what is before is not ours to answer. `own` is the server's own path, without
 * slashes at its end; empty at the root.
 */
function locate(
  own: string,
  request: Request,
  platform: RequestPlatform,
  options: PublicUrlOptions,
): ResourceLocation {
  const { publicUrl, trustProxy } = options
  if (publicUrl === undefined) {
    const { origin, prefix } = publicUrlOf(request, platform, trustProxy)
    const rest = own || DEFAULT_PATH
    return {
      resource: origin + prefix + rest,
      isVouchedFor: isOwnOrigin(origin, request, platform, options),
      metadataUrl: origin + prefix + METADATA_PATH + rest,
    }
  }
  const path = pathOf(publicUrl)
  // At the root (`-0`) there is none: what was asked for says nothing of it.
  const prefix = path.endsWith(own) ? path.slice(0, -own.length) : ''
  const metadataUrl = new URL(publicUrl).origin + prefix + METADATA_PATH + path.slice(prefix.length)
  return { resource: publicUrl, isVouchedFor: true, metadataUrl }
}

/** Whether an origin is ours by more than the word of the caller, who writes `Host` and its port. */
function isOwnOrigin(
  origin: string,
  request: Request,
  platform: RequestPlatform,
  { allowedHosts }: PublicUrlOptions,
): boolean {
  const { host } = new URL(origin)
  if (platform.vouchesForHost === true && origin === new URL(request.url).origin) return true
  const hosts = servedHosts(allowedHosts, platform.env)
  return hosts === undefined ? platform.loopback === true && isLoopbackAddress(host) : isOneOf(host, hosts)
}

/** Reports, once, a resource that clients elsewhere are told to send their tokens to without TLS. */
export function createTlsWatch(report: (error: Error) => void): (resource: string) => void {
  let isQuiet = false
  return (resource) => {
    const { protocol, host, origin } = new URL(resource)
    if (isQuiet || protocol === 'https:' || isLoopbackAddress(host)) return
    isQuiet = true
    report(
      new Error(
        `OAuth metadata names ${origin}, without TLS: set http.publicUrl to the https URL that clients use, or http.trustProxy behind a proxy of yours that sets X-Forwarded-Proto.`,
      ),
    )
  }
}

function pathOf(url: string): string {
  return withoutSlashes(new URL(url).pathname)
}

/** The host a client addressed: what the guard compares. */
export function publicHost(headers: Headers, url: string, trustProxy: boolean): string {
  return (trustProxy && forwarded(headers, 'host')) || headers.get('host') || new URL(url).host
}

/** The caller's address, without a port: the one the nearest proxy saw, where that proxy is trusted and says it. */
export function callerAddress(
  headers: Headers,
  platform: RequestPlatform,
  trustProxy: boolean,
): string | undefined {
  // The last entry is the proxy's own; those before it are whatever the client sent.
  const seen = trustProxy ? headers.get('x-forwarded-for')?.split(',').at(-1) : undefined
  return toAddress(seen ?? '') ?? toAddress(platform.clientAddress ?? '')
}

function forwardedOrigin(headers: Headers, origin: string): string {
  const own = new URL(origin)
  const host = forwarded(headers, 'host') ?? own.host
  const protocol = forwarded(headers, 'proto')?.toLowerCase() ?? own.protocol.slice(0, -1)
  if (!PLAIN_HOST.test(host) || (protocol !== 'http' && protocol !== 'https')) return origin
  const named = `${protocol}://${host}`
  // `shop.example:99999` and `999.1.1.1` look like hosts, and no URL can have them.
  return URL.canParse(named) ? new URL(named).origin : origin
}

/** The nearest proxy's value: each one appends its own. */
function forwarded(headers: Headers, name: 'host' | 'proto' | 'prefix'): string | undefined {
  return headers.get(`x-forwarded-${name}`)?.split(',').at(-1)?.trim() || undefined
}

/** Without the slashes it ends with. */
function withoutSlashes(path: string): string {
  let end = path.length
  // Not by an expression, which would begin anew at each of many slashes.
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

function ownPath(pathname: string, prefix: string): string {
  if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return pathname
  return pathname.slice(prefix.length) || '/'
}
