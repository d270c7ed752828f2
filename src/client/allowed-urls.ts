/** Which addresses from a server may be requested, and which may be opened for a user. */

/** Addresses of this machine or of a private network, and those that do not identify a single host (RFC 6890). */
const PRIVATE_IPV4 =
  /^(?:0|10|127|22[4-9]|2[3-5]\d)\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^192\.(?:168|0\.0)\.|^198\.1[89]\./
/** `::`, `::1`, IPv4 in IPv6, unique local, link-local, multicast. */
const PRIVATE_IPV6 = /^\[(?:::|f[cd]|fe[89ab]|ff|64:ff9b:)/
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|local|internal|home\.arpa)$/

const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')

/** Whether a URL is on this machine (RFC 8252 §7.3 and RFC 6761 §6.3). */
export function isLoopback(url: URL): boolean {
  return /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostOf(url))
}

/** Checks only the URL; a name may resolve to any address. */
function isPrivate(url: URL): boolean {
  const host = hostOf(url)
  if (host.startsWith('[')) return PRIVATE_IPV6.test(host)
  return /^[\d.]+$/.test(host) ? PRIVATE_IPV4.test(host) : PRIVATE_NAME.test(host)
}

/** Whether a URL has the server's own origin, so that its credentials may be sent there. The https form counts (RFC 9110 §4.3.3). */
export function isOwn(url: URL, server: URL): boolean {
  if (url.origin === server.origin) return true
  const isUpgrade = server.protocol === 'http:' && url.protocol === 'https:'
  return isUpgrade && url.hostname === server.hostname && url.port === '' && server.port === ''
}

/**
 * Whether a server may make this client send requests to another origin, as for signing users in: only over https, and not to a private
 * network unless the server is in one, too (MCP 2026-07-28, "Security Best Practices", server-side request forgery).
 */
export function mayReach(url: URL, server: URL): boolean {
  if (isLoopback(url)) return isLoopback(server) && /^https?:$/.test(url.protocol)
  return url.protocol === 'https:' && (!isPrivate(url) || isPrivate(server))
}

/** Whether a URL from a server may be opened for a user: https, or http on loopback, and without a misleading host. */
export function mayVisit(url: string | URL): boolean {
  if (!URL.canParse(url)) return false
  const parsed = new URL(url)
  const { protocol, username, password } = parsed
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(parsed))
}
