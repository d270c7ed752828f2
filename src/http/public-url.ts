/**
 * The URL at which clients reach this server: configured, else from the platform; forwarded headers are read only if trusted.
 */
import type { ResourceLocation } from '../auth/auth.ts'
import { isMetadataPath, METADATA_PATH } from '../auth/location.ts'
import { isLoopbackAddress } from '../request/address.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { forwarded } from './forwarded.ts'
import { isOneOf, servedHosts } from './hosts.ts'

export interface PublicUrlOptions {
  /** The URL of the MCP endpoint as clients see it. Undefined: derived from the request. */
  readonly publicUrl: string | undefined
  /** Accepted hosts. Undefined: `MAYFLY_ALLOWED_HOSTS`, else any. */
  readonly allowedHosts: readonly string[] | undefined
  /** Whether your own proxy sets `X-Forwarded-*`. A client that can bypass the proxy could set them too. */
  readonly trustProxy: boolean
}

/** The URL of one request, as sent by its client. */
export interface PublicUrl {
  /** `https://shop.example` */
  readonly origin: string
  /** The part before the server's own path: the platform's prefix and the proxy's. Without a trailing slash; may be empty. */
  readonly prefix: string
  /** The server's own path, with its leading slash. */
  readonly path: string
}

/** The endpoint answers at any path. This one is shown if the path is unknown. */
const DEFAULT_PATH = '/mcp'

/** A forwarded prefix becomes part of URLs that clients see: it must be a plain path, without `..`. */
const PLAIN_PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/

/** `host` or `host:port`, including an IPv6 address in brackets. */
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Reads `X-Forwarded-Host`, `-Proto` and `-Prefix` only if `trustProxy` is set; ignores malformed ones. */
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

/** The MCP endpoint as clients see it. For a request to the root, the conventional path is used. */
export function publicEndpoint(
  request: Request,
  platform: RequestPlatform,
  options: PublicUrlOptions,
): string {
  if (options.publicUrl !== undefined) return options.publicUrl
  const { origin, prefix, path } = publicUrlOf(request, platform, options.trustProxy)
  return origin + prefix + (withoutSlashes(path) || DEFAULT_PATH)
}

/** The protected resource of a request, and the URL of its metadata (RFC 9728 §3.1). */
export function resourceLocation(
  request: Request,
  platform: RequestPlatform,
  options: PublicUrlOptions,
): ResourceLocation {
  const { path } = publicUrlOf(request, platform, options.trustProxy)
  return locate(withoutSlashes(path), request, platform, options)
}

/**
 * The resource whose metadata a request asks for. Its path follows the well-known path (RFC 9728 §3.1), or is omitted by older clients.
 * Undefined for any other path, and for a resource other than the one in `publicUrl`.
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
 * Behind a prefix, the well-known path comes after the prefix: paths before it do not reach this server. `own` is the server's own
 * path without trailing slashes; empty at the root.
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
  // At the root, `slice(0, -0)` is empty, and the request's path does not show the prefix.
  const prefix = path.endsWith(own) ? path.slice(0, -own.length) : ''
  const metadataUrl = new URL(publicUrl).origin + prefix + METADATA_PATH + path.slice(prefix.length)
  return { resource: publicUrl, isVouchedFor: true, metadataUrl }
}

/** Whether the origin is confirmed to be this server's, since the caller controls `Host` and its port. */
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

/** Reports once if OAuth metadata names a non-local resource without TLS, since clients would send their tokens to it. */
export function createTlsWatch(report: (error: Error) => void): (resource: string) => void {
  let isQuiet = false
  return (resource) => {
    const { protocol, host, origin } = new URL(resource)
    if (isQuiet || protocol === 'https:' || isLoopbackAddress(host)) return
    isQuiet = true
    report(
      new Error(
        `OAuth metadata names ${origin}, without TLS: set http.publicUrl to the https URL that clients use, or http.trustProxy behind your own proxy that sets X-Forwarded-Proto.`,
      ),
    )
  }
}

function pathOf(url: string): string {
  return withoutSlashes(new URL(url).pathname)
}

function forwardedOrigin(headers: Headers, origin: string): string {
  const own = new URL(origin)
  const host = forwarded(headers, 'host') ?? own.host
  const protocol = forwarded(headers, 'proto')?.toLowerCase() ?? own.protocol.slice(0, -1)
  if (!PLAIN_HOST.test(host) || (protocol !== 'http' && protocol !== 'https')) return origin
  const named = `${protocol}://${host}`
  // `shop.example:99999` and `999.1.1.1` look like hosts, but are not valid in a URL.
  return URL.canParse(named) ? new URL(named).origin : origin
}

/** Removes trailing slashes. */
function withoutSlashes(path: string): string {
  let end = path.length
  // Not with a regular expression: on many slashes it would take quadratic time.
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

function ownPath(pathname: string, prefix: string): string {
  if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return pathname
  return pathname.slice(prefix.length) || '/'
}
