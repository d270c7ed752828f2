/** Hosts and addresses: normalizes their spellings, and classifies from where they can be reached. */

/** `private`: a name or an address that exists only in some network. `loopback`: this machine. */
export type Reach = 'public' | 'private' | 'loopback'

export interface Host {
  /** Lower case, without a trailing dot. Addresses as the URL standard writes them; IPv4 in IPv6 as IPv4. */
  readonly name: string
  /** Empty without a port. */
  readonly port: string
  readonly reach: Reach
}

/** The limit of DNS. */
const MAX_NAME_CHARACTERS = 255

const HOST = /^(\[[^[\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/

/** Characters that would end a host in a URL, or be decoded in it. */
const NO_NAME = /[\s/?#@\\%]/

const MAPPED = /\[::ffff:([\da-f]+):([\da-f]+)\]/

/**
 * This network, RFC 1918, RFC 6598 and link-local. Matches canonical names only: any other name that ends in a number is not a valid host.
 */
const PRIVATE_V4 =
  /^(?:0|10|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(?:1[6-9]|2\d|3[01])|192\.168)\..*\.\d+$/

/** Unspecified and compatible, NAT64, unique local (RFC 4193), link-local and site-local. */
const PRIVATE_V6 = /\[(?:::|64:ff9b:|f[cd]..:|fe[89a-f].:)/

/** Names outside the public DNS: empty, one label, RFC 6761, RFC 6762 (also its appendix G), RFC 8375, and ICANN's `internal`. */
const PRIVATE_NAME =
  /^[^.[]*$|(?:^|\.)(?:local|localhost|internal|intranet|private|corp|home|lan|localdomain|home\.arpa)$/

/** Cache of parsed hosts: a deployment has few names, and each request is compared with every allowed one. */
const parsed = new Map<string, Host>()
const MAX_PARSED = 100

/** Reads `host`, `host:port`, `[::1]:port` and a bare IPv6 address. Undefined for a string that is not a valid URL host. */
export function parseHost(text: string): Host | undefined {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const host = parseNewHost(text)
  if (parsed.size >= MAX_PARSED) parsed.clear()
  if (host !== undefined && text.length <= MAX_NAME_CHARACTERS) parsed.set(text, host)
  return host
}

function parseNewHost(text: string): Host | undefined {
  // A bare IPv6 address has two colons and no port. A zone is only valid on one machine, so it is refused.
  const isBare = text.indexOf(':') !== text.lastIndexOf(':') && !text.startsWith('[')
  const [, name = '', port = ''] = HOST.exec(isBare ? `[${text}]` : text) ?? []
  const unzoned = name.startsWith('[') ? name.replace(/%.*/, ']') : name
  if (unzoned.length > MAX_NAME_CHARACTERS || NO_NAME.test(unzoned)) return undefined
  const canonical = hostnameOf(`http://${unzoned}`).replace(/\.$/, '')
  // A name with an empty label is invalid, although some parsers allow it.
  if (/^$|\.$|\.\./.test(canonical)) return undefined
  const known = unmapped(canonical)
  return { name: known, port, reach: reachOfName(known) }
}

/** From where a host can be reached, with or without a port. An invalid host counts as private, which is stricter. */
export function reachOf(host: string): Reach {
  return parseHost(host)?.reach ?? 'private'
}

function reachOfName(name: string): Reach {
  if (name === 'localhost' || name === '[::1]' || /^127\..*\.\d+$/.test(name)) return 'loopback'
  return [PRIVATE_V4, PRIVATE_V6, PRIVATE_NAME].some((one) => one.test(name)) ? 'private' : 'public'
}

/** Whether only this machine can reach a listener bound to `hostname`: `localhost`, 127.0.0.0/8 or `::1`, in any spelling. */
export function isLoopbackAddress(hostname: string): boolean {
  const host = parsed.get(hostname) ?? parseHost(hostname)
  return host?.reach === 'loopback'
}

/** The address in `1.2.3.4:5678`, `[::1]:123` or `for="[::1]"` (RFC 7239 §6), without its port; undefined for any other text. */
export function toAddress(text: string): string | undefined {
  const written = text.trim().replace(/^(?:for=)?"?|"$/gi, '')
  const name = parseHost(written)?.name ?? ''
  if (name.startsWith('[')) return name.slice(1, -1)
  return /\.\d+$/.test(name) ? name : undefined
}

/**
 * The network of one customer for an IPv6 address (RFC 6177), `2001:db8:0:1::/64`, or another one, of 128 bits the address with all of its
 * groups; an IPv4 address unchanged.
 */
export function toNetwork(address: string, bits: 128 | 64 | 48 | 32 = 64): string {
  if (!address.includes(':')) return address
  const missing = 8 - partsOf(address).length
  const groups = partsOf(address.replace('::', `:${'0:'.repeat(missing)}`))
  return `${groups.slice(0, bits / 16).join(':')}::/${bits}`
}

function partsOf(address: string): string[] {
  return address.split(':').filter((part) => part !== '')
}

/** Writes IPv4 in IPv6 as IPv4; the URL parser reads its two groups as one number. */
function unmapped(name: string): string {
  return name.replace(MAPPED, (_all, high: string, low: string) =>
    hostnameOf(`http://${Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)}`),
  )
}

/** Empty for an invalid URL. Parsed only once, since it runs for each request. */
function hostnameOf(url: string): string {
  try {
    return new URL(url).hostname
  } catch {
    return ''
  }
}
