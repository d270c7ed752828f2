/**
 * Addresses that no callback may have: those of IANA's registries of special-purpose addresses (RFC 6890; the versions of October 2026), of
 * multicast, and the rest of IPv6 that is not assigned.
 */

const SPECIAL_V4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // shared by carriers, and by clouds for their own services
  '127.0.0.0/8',
  '168.63.129.16/32', // in no registry: what each virtual machine of Azure asks
  '169.254.0.0/16', // link-local, with the metadata of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]

/** All that is assigned to hosts. What is not in it is special, such as `::1`, `fc00::/7`, `fe80::/10` and `ff00::/8`. */
const UNICAST_V6 = '2000::/3'

const SPECIAL_V6 = [
  '2001::/23', // protocols of the IETF, with Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which has an IPv4 address in it
  '2620:4f:8000::/48',
  '3fff::/20', // documentation
]

/** The last 32 bits are the IPv4 address that is reached: mapped (RFC 4291 §2.5.5.2), and translated by a NAT64 (RFC 6052 §2.1). */
const WITH_V4 = ['::ffff:0:0/96', '64:ff9b::/96']

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** An address as a number, and how many bits it has. */
interface Address {
  readonly value: bigint
  readonly bits: 32 | 128
}

/** The longest IPv6 address as text. */
const MAX_CHARACTERS = 45

/** Whether an address is not one of the public internet. Other text, and an address with a zone, count as special. */
export function isSpecialAddress(text: string): boolean {
  const address = toAddress(text)
  if (address === undefined) return true
  const { value, bits } = address
  if (bits === 32) return isIn(address, SPECIAL_V4)
  if (isIn(address, WITH_V4)) return isIn({ value: value & 0xffff_ffffn, bits: 32 }, SPECIAL_V4)
  return !isIn(address, [UNICAST_V6]) || isIn(address, SPECIAL_V6)
}

/** Whether only this machine has the address. */
export function isLoopbackIp(text: string): boolean {
  const address = toAddress(text)
  return address !== undefined && isIn(address, LOOPBACK)
}

function isIn({ value, bits }: Address, networks: readonly string[]): boolean {
  return networks.some((network) => {
    const [base = '', length = ''] = network.split('/')
    const known = toAddress(base)
    if (known?.bits !== bits) return false
    const rest = BigInt(bits - Number(length))
    return value >> rest === known.value >> rest
  })
}

function toAddress(text: string): Address | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  return text.includes(':') ? toV6(text) : toV4(text)
}

/** Four decimal numbers. A leading zero may mean octal, so it is refused. */
function toV4(text: string): Address | undefined {
  const numbers = text.split('.')
  if (numbers.length !== 4 || !numbers.every((one) => /^(?:0|[1-9]\d{0,2})$/.test(one) && Number(one) < 256))
    return undefined
  return { value: numbers.reduce((value, one) => value * 256n + BigInt(one), 0n), bits: 32 }
}

/** By the parser of URLs, which knows all spellings, and no zones. */
function toV6(text: string): Address | undefined {
  const url = `http://[${text}]`
  if (!/^[\da-fA-F:.]+$/.test(text) || !URL.canParse(url)) return undefined
  const [head = '', tail] = new URL(url).hostname.slice(1, -1).split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const missing = Array.from({ length: 8 - first!.length - last!.length }, () => '0')
  const groups = [...first!, ...missing, ...last!]
  return {
    value: groups.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n),
    bits: 128,
  }
}
