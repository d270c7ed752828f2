/**
 * Which Host and Origin this server accepts (MCP 2026-07-28, Streamable HTTP, "Security & Endpoint").
 */
import { isLoopbackAddress, parseHost, reachOf } from '../request/address.ts'
import { publicHost } from './forwarded.ts'
import { isListed } from './hosts.ts'

export interface GuardOptions {
  /** Accepted origins, `https://app.example.com`. Undefined: any on a public host; on a private one, its own and local ones. */
  readonly allowedOrigins: readonly string[] | undefined
  /** Whether `X-Forwarded-Host` names the host that the client addressed. */
  readonly trustProxy: boolean
  /** The URL of the endpoint as clients see it, if the operator named it. */
  readonly publicUrl: string | undefined
}

/** A request, and what is read of it once. */
interface Addressed {
  readonly request: Request
  /** Its headers. */
  readonly sent: Headers
  readonly origin: string | null
  readonly platform: { readonly loopback?: boolean }
}

const WEB_ORIGIN = /^https?:\/\/(.+)/

/**
 * The header for which a request is refused; undefined if its host and its origin are accepted.
 *
 * Without configuration, a server on a public host accepts any origin: it uses no cookies, so another site gains no authority. On a local
 * or private host, being able to connect is already an authority, which every website in a local browser could use, so only local origins
 * and its own are accepted. Over a loopback connection only local hosts and that of `publicUrl` are accepted, which stops DNS rebinding.
 * Trusts `Host`; reads `X-Forwarded-Host` only if `trustProxy` is set, and over a loopback connection only if `Host` is also one of those or in
 * `allowedHosts`.
 *
 * @param allowedHosts `example.com` or `example.com:8443`. Undefined: any, but see above.
 */
export function refusedHeader(
  { request, sent, origin, platform }: Addressed,
  allowedHosts: readonly string[] | undefined,
  { allowedOrigins, trustProxy, publicUrl }: GuardOptions,
): 'Host' | 'Origin' | undefined {
  const loopback = platform.loopback === true
  const host = publicHost(request, trustProxy, sent)
  const isServed =
    allowedHosts === undefined ? !loopback || isKnown(host, publicUrl) : isListed(host, allowedHosts)
  if (!isServed) return 'Host'
  if (loopback && trustProxy) {
    const addressed = publicHost(request, false, sent)
    // A page may set X-Forwarded-Host, but not Host.
    if (!isKnown(addressed, publicUrl) && !isListed(addressed, allowedHosts ?? [])) return 'Host'
  }
  if (origin === null) return undefined
  const isAccepted =
    allowedOrigins === undefined
      ? reachOf(host) === 'public' || isOwnOrigin(origin, host)
      : allowedOrigins.includes(origin) || allowedOrigins.includes('*')
  return isAccepted ? undefined : 'Origin'
}

/** Local, or the host of `publicUrl`. */
function isKnown(host: string, publicUrl: string | undefined): boolean {
  return isLoopbackAddress(host) || (publicUrl !== undefined && isListed(host, [new URL(publicUrl).host]))
}

/** Local, or the same host on any port: another port may be another server of the same owner. */
function isOwnOrigin(origin: string, host: string): boolean {
  const from = WEB_ORIGIN.exec(origin)?.[1] ?? ''
  const name = parseHost(from)?.name
  return isLoopbackAddress(from) || (name !== undefined && name === parseHost(host)?.name)
}
