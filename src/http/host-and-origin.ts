/**
 * Which Host and Origin this server accepts (MCP 2026-07-28, Streamable HTTP, "Security & Endpoint").
 */
import { isLoopbackAddress, parseHost, reachOf } from '../request/address.ts'
import { isListed } from './hosts.ts'
import { publicHost } from './public-url.ts'

export interface GuardOptions {
  /** Accepted hosts, `example.com` or `example.com:8443`. Undefined: any, but see `isAllowed`. */
  readonly allowedHosts: readonly string[] | undefined
  /** Accepted origins, `https://app.example.com`. Undefined: any on a public host; on a private one, its own and local ones. */
  readonly allowedOrigins: readonly string[] | undefined
  /** Whether `X-Forwarded-Host` names the host that the client addressed. */
  readonly trustProxy: boolean
}

const WEB_ORIGIN = /^https?:\/\/(.+)/

/**
 * Whether the server accepts the host and the origin of a request.
 *
 * Without configuration, a server on a public host accepts any origin: it uses no cookies, so another site gains no authority. On a local
 * or private host, being able to connect is already an authority, which every website in a local browser could use, so only local origins
 * and its own are accepted. A loopback listener accepts only local hosts, which stops DNS rebinding. Trusts `Host`; reads
 * `X-Forwarded-Host` only if `trustProxy` is set.
 */
export function isAllowed(request: Request, loopback: boolean, options: GuardOptions): boolean {
  const { allowedHosts, allowedOrigins, trustProxy } = options
  const origin = request.headers.get('origin')
  const host = publicHost(request, trustProxy)
  if (allowedHosts !== undefined && !isListed(host, allowedHosts)) return false
  if (allowedHosts === undefined && loopback && !isLoopbackAddress(host)) return false
  if (origin === null) return true
  if (allowedOrigins !== undefined) return allowedOrigins.includes(origin) || allowedOrigins.includes('*')
  return reachOf(host) === 'public' || isOwnOrigin(origin, host)
}

/** Local, or the same host on any port: another port may be another server of the same owner. */
function isOwnOrigin(origin: string, host: string): boolean {
  const from = WEB_ORIGIN.exec(origin)?.[1] ?? ''
  const name = parseHost(from)?.name
  return isLoopbackAddress(from) || (name !== undefined && name === parseHost(host)?.name)
}
