/** What each request needs of the headers that proxies add, which are read only if they are trusted. */
import { toAddress } from '../request/address.ts'
import type { RequestPlatform } from '../request/platform.ts'

/** The host that the client addressed, for the guard to compare. */
export function publicHost(request: Request, trustProxy: boolean, headers = request.headers): string {
  // Some runtimes build the URL on first use.
  return (trustProxy && forwarded(headers, 'host')) || headers.get('host') || new URL(request.url).host
}

/** The caller's address without a port: from the last `X-Forwarded-For` entry if the proxy is trusted, else from the platform. */
export function callerAddress(
  headers: Headers,
  platform: RequestPlatform,
  trustProxy: boolean,
): string | undefined {
  // The proxy added the last entry; the client may have sent the others.
  const seen = trustProxy ? headers.get('x-forwarded-for')?.split(',').at(-1) : undefined
  return toAddress(seen ?? '') ?? toAddress(platform.clientAddress ?? '')
}

/** The last value, which the nearest proxy added: each proxy appends its own. */
export function forwarded(headers: Headers, name: 'host' | 'proto' | 'prefix'): string | undefined {
  return headers.get(`x-forwarded-${name}`)?.split(',').at(-1)?.trim() || undefined
}
