/** The networks of an address: its own, and the wider ones that one attacker may have. */
import { reachOf, toAddress, toNetwork } from '../../request/address.ts'

/** What one network may do, of all: `most` for each of its counters, which requests at the same time would else change all at once. */
export interface Share {
  readonly network: string
  readonly counters: number
  readonly most: number
}

/**
 * The bits of IPv6, the octets of IPv4, and the share of one: 30, 120 and 480. A line has a /56 or a /48 of IPv6 (RFC 6177), a provider
 * a /32; addresses of IPv4 are rented by the /24.
 */
const WIDTHS = [
  [64, 4, 1, 30],
  [48, 3, 4, 30],
  [32, 2, 8, 60],
] as const

/** NAT64 (RFC 6052): the last two of eight groups are IPv4. `toAddress` has written mapped addresses as IPv4. */
const LAST_GROUPS = /^64:ff9b:0:0:0:0:([\da-f]+):([\da-f]+)$/
/** 6to4 (RFC 3056): the second and the third are. */
const SECOND_GROUPS = /^2002:([\da-f]+):([\da-f]+):/

/**
 * From narrow to wide. Empty without an address, and for a private or loopback one: it may be that of a proxy, behind which are all callers.
 * An address that contains one of IPv4 counts as that: its owner can send from all of IPv6 that contain it.
 */
export function sharesOf(given: string | undefined): readonly Share[] {
  const found = toAddress(given ?? '')
  const address = found && (ipv4In(found) ?? found)
  if (address === undefined || reachOf(address) !== 'public') return []
  return WIDTHS.map(([bits, octets, counters, most]) => {
    const isV6 = address.includes(':')
    const network = isV6 ? toNetwork(address, bits) : address.split('.').slice(0, octets).join('.')
    return { network, counters, most }
  })
}

function ipv4In(address: string): string | undefined {
  if (!address.includes(':')) return undefined
  const groups = toNetwork(address, 128).replace('::/128', '')
  const [, high, low] = LAST_GROUPS.exec(groups) ?? SECOND_GROUPS.exec(groups) ?? []
  if (high === undefined || low === undefined) return undefined
  return [high, low]
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.')
}
