/**
 * Who may talk to this server at all: Host and Origin (MCP 2026-07-28, Streamable HTTP, "Security & Endpoint").
 */
import { isLoopbackAddress, parseHost, reachOf } from '../request/address.ts'
import { isListed } from './hosts.ts'
import { publicHost } from './public-url.ts'

export interface GuardOptions {
  /** Hosts served, `example.com` or `example.com:8443`. Undefined: any, but see `isAllowed`. */
  readonly allowedHosts: readonly string[] | undefined
  /** Origins served, `https://app.example.com`. Undefined: any on a public host; on another one its own and local ones. */
  readonly allowedOrigins: readonly string[] | undefined
  /** Whether `X-Forwarded-Host` is the host a client addressed. */
  readonly trustProxy: boolean
}

const WEB_ORIGIN = /^https?:\/\/(.+)/

/**
 * Whether the request comes to a host, and from an origin, that this server serves.
 *
 * With nothing declared, a server on a public host takes any origin: it keeps no cookies, so another site has no
 * authority to borrow. A host of this machine or of a private network is itself an authority, which every website in a browser there
 * could borrow: it takes local origins and its own. A loopback listener takes only local hosts: that is what stops DNS
 * rebinding. Trusts `Host`; reads `X-Forwarded-Host` only where `trustProxy` is set.
 */
export function isAllowed(headers: Headers, url: string, loopback: boolean, options: GuardOptions): boolean {
  const { allowedHosts, allowedOrigins, trustProxy } = options
  const origin = headers.get('origin')
  const host = publicHost(headers, url, trustProxy)
  if (allowedHosts !== undefined && !isListed(host, allowedHosts)) return false
  if (allowedHosts === undefined && loopback && !isLoopbackAddress(host)) return false
  if (origin === null) return true
  if (allowedOrigins !== undefined) return allowedOrigins.includes(origin) || allowedOrigins.includes('*')
  return reachOf(host) === 'public' || isOwnOrigin(origin, host)
}

/** Of this machine, or of the host itself: any port may be another server of the same owner. */
function isOwnOrigin(origin: string, host: string): boolean {
  const from = WEB_ORIGIN.exec(origin)?.[1] ?? ''
  const name = parseHost(from)?.name
  return isLoopbackAddress(from) || (name !== undefined && name === parseHost(host)?.name)
}
