/**
 * Who may talk to this server at all: Host and Origin (MCP 2026-07-28, Streamable HTTP, "Security & Endpoint").
 */

import { publicHost } from './public-url.ts'

export interface GuardOptions {
  /** Hosts served, `example.com` or `example.com:8443`. Undefined: any, but see `isAllowed`. */
  readonly allowedHosts: readonly string[] | undefined
  /** Origins served, `https://app.example.com`. Undefined: any on a public host, local ones on a local host. */
  readonly allowedOrigins: readonly string[] | undefined
  /** Whether `X-Forwarded-Host` is the host a client addressed. */
  readonly trustProxy: boolean
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/**
 * Whether the request comes to a host, and from an origin, that this server serves.
 *
 * With nothing declared, a server on a public host takes any origin: it keeps no cookies, so another site has no
 * authority to borrow. On a local host only local origins are taken, and on a loopback listener only local hosts:
 * that is what stops DNS rebinding. Trusts `Host`; reads `X-Forwarded-Host` only where `trustProxy` is set.
 */
export function isAllowed(headers: Headers, url: string, loopback: boolean, options: GuardOptions): boolean {
  const hosts = options.allowedHosts ?? (loopback ? LOCAL_HOSTS : undefined)
  const origin = headers.get('origin')
  if (hosts === undefined && origin === null) return true
  const host = publicHost(headers, url, options.trustProxy)
  const name = withoutPort(host)
  if (hosts !== undefined && !hosts.includes(name) && !hosts.includes(host)) return false
  if (origin === null) return true
  if (options.allowedOrigins !== undefined)
    return options.allowedOrigins.includes(origin) || options.allowedOrigins.includes('*')
  return !LOCAL_HOSTS.includes(name) || isLocalOrigin(origin)
}

function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/(.+)$/.exec(origin)
  return match !== null && LOCAL_HOSTS.includes(withoutPort(match[1]!.toLowerCase()))
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
