/**
 * Hosts and addresses, which can be written in many ways: one form for each, and how far it reaches.
 */

/** `private`: a name or an address that only some network knows. `loopback`: this machine. */
export type Reach = 'public' | 'private' | 'loopback'

export interface Host {
  /** Lower case, without a dot at its end; addresses as the URL standard writes them, IPv4 in IPv6 as IPv4. */
  readonly name: string
  /** Empty where none is written. */
  readonly port: string
}

/** DNS takes no more. */
const MAX_NAME_CHARACTERS = 255

const HOST = /^(\[[^[\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/

/** What would end a host in a URL, or be decoded in it. */
const NO_NAME = /[\s/?#@\\%]/

const MAPPED = /\[::ffff:([\da-f]+):([\da-f]+)\]/

/** This network, RFC 1918, RFC 6598 and link-local. Canonical: every other name with a number at its end is no host. */
const PRIVATE_V4 =
  /^(?:0|10|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\..*\.\d+$/

/** Unspecified and compatible, NAT64, unique local (RFC 4193), link-local and site-local. */
const PRIVATE_V6 = /\[(?:::|64:ff9b:|f[cd]..:|fe[89a-f].:)/

/** No name of the public DNS: none at all, one label, RFC 6761, RFC 6762 (also its appendix G), RFC 8375, ICANN's `internal`. */
const PRIVATE_NAME =
  /^[^.[]*$|(?:^|\.)(?:local|localhost|internal|intranet|private|corp|home|lan|localdomain|home\.arpa)$/

/** Reads `host`, `host:port`, `[::1]:port` and a bare IPv6 address. Undefined for what no URL could have as its host. */
export function parseHost(text: string): Host | undefined {
  // A bare IPv6 address has two colons, and no port; its zone means something on one machine alone.
  const isBare = text.indexOf(':') !== text.lastIndexOf(':') && !text.startsWith('[')
  const [, name = '', port = ''] = HOST.exec(isBare ? `[${text}]` : text) ?? []
  const unzoned = name.startsWith('[') ? name.replace(/%.*/, ']') : name
  if (unzoned.length > MAX_NAME_CHARACTERS || NO_NAME.test(unzoned)) return undefined
  const canonical = hostnameOf(`http://${unzoned}`).replace(/\.$/, '')
  // An empty label is no name; some parsers let it be one.
  return /^$|\.$|\.\./.test(canonical) ? undefined : { name: unmapped(canonical), port }
}

/** How far a host reaches, with a port or without. A text that is no host counts as private: it is denied what only public hosts may. */
export function reachOf(host: string): Reach {
  const name = parseHost(host)?.name ?? ''
  if (name === 'localhost' || name === '[::1]' || /^127\..*\.\d+$/.test(name)) return 'loopback'
  return [PRIVATE_V4, PRIVATE_V6, PRIVATE_NAME].some((one) => one.test(name)) ? 'private' : 'public'
}

/** Whether a listener that is bound to it is reached from this machine alone: `localhost`, 127.0.0.0/8 or `::1`, however spelled. */
export function isLoopbackAddress(hostname: string): boolean {
  return reachOf(hostname) === 'loopback'
}

/** The address in `1.2.3.4:5678`, `[::1]:123` or `for="[::1]"` (RFC 7239 §6), without its port; undefined for any other text. */
export function toAddress(text: string): string | undefined {
  const written = text.trim().replace(/^(?:for=)?"?|"$/gi, '')
  const name = parseHost(written)?.name ?? ''
  if (name.startsWith('[')) return name.slice(1, -1)
  return /\.\d+$/.test(name) ? name : undefined
}

/** The network of an IPv6 address that one customer has (RFC 6177), `2001:db8:0:1::/64`; an IPv4 address as it is. */
export function toNetwork(address: string): string {
  if (!address.includes(':')) return address
  const missing = 8 - partsOf(address).length
  const groups = partsOf(address.replace('::', `:${'0:'.repeat(missing)}`))
  return `${groups.slice(0, 4).join(':')}::/64`
}

function partsOf(address: string): string[] {
  return address.split(':').filter((part) => part !== '')
}

/** IPv4 in IPv6 is another way to write IPv4, which the parser reads as one number, too. */
function unmapped(name: string): string {
  return name.replace(MAPPED, (_all, high: string, low: string) =>
    hostnameOf(`http://${Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)}`),
  )
}

/** Empty for what is no URL. Parsed once: it is done for each request. */
function hostnameOf(url: string): string {
  try {
    return new URL(url).hostname
  } catch {
    return ''
  }
}
