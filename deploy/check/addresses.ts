/** Decides which of a server's addresses may be fetched: none in a private network that the server is not part of. */
import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'reserved'

const RANGES: readonly (readonly [AddressKind, readonly string[]])[] = [
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10']],
  [
    'reserved',
    [
      '0.0.0.0/8',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '224.0.0.0/3',
      '::/96',
      // Addresses that embed another one: which host a gateway would reach is unknown.
      '64:ff9b::/96',
      '64:ff9b:1::/48',
      '2001::/23',
      '2001:db8::/32',
      '2002::/16',
      'ff00::/8',
    ],
  ],
]

const LISTS = RANGES.map(([kind, ranges]) => [kind, toBlockList(ranges)] as const)

/** The kind of an IPv4 or IPv6 address; an IPv4 address in IPv6 notation counts as the IPv4 address. */
export function kindOf(address: string): AddressKind {
  const [bare] = address.split('%') as [string]
  const version = isIP(bare)
  if (version === 0) return 'reserved'
  return LISTS.find(([, list]) => list.check(bare, `ipv${version as 4 | 6}`))?.[0] ?? 'public'
}

/** The address in a URL; undefined if the URL has a host name. */
export function addressIn({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? undefined : bare
}

/** Whether a URL's host is this machine, by its name (RFC 6761 §6.3) or its address. */
export function isLocalHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  // A listener treats these as "all addresses"; a client that connects to them reaches this machine.
  if (bare === '0.0.0.0' || bare === '::') return true
  return isIP(bare) === 0 ? /(^|\.)localhost\.?$/.test(bare) : kindOf(bare) === 'loopback'
}

/** The name resolves to an address that must not be reached. */
export class AddressRefused extends Error {
  override name = 'AddressRefused'
}

/** Resolves names like the system, and rejects with `AddressRefused` if any address is not allowed. */
export function guardedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const refused = addresses.find(({ address }) => !isAllowed(address))
      if (refused) return callback(new AddressRefused(`a ${kindOf(refused.address)} address`), '', 0)
      if (options.all) return callback(null, addresses)
      const [{ address, family }] = addresses as [(typeof addresses)[number]]
      callback(null, address, family)
    })
  }
}

function toBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, bits] = range.split('/') as [string, string]
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
