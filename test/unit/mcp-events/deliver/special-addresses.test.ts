/** Which addresses no callback may have, compared with the list of networks of Node. */
import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLoopbackIp, isSpecialAddress } from '../../../../src/mcp-events/deliver/special-addresses.ts'

/** IANA's registries as of 2026-10, those whose addresses are not globally reachable, and multicast. */
const V4 =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4
  240.0.0.0/4`.split(/\s+/)
/** Not in `2000::/3`, and the special ones in it. */
const V6 = '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20'.split(' ')

/** One for each version: a list with both takes IPv4 for mapped IPv6. */
function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [base = '', length] = network.split('/')
    list.addSubnet(base, Number(length), family)
  }
  return (address) => list.check(address, family)
}

const isSpecialV4 = listOf(V4, 'ipv4')
const isSpecialV6 = listOf(V6, 'ipv6')

const toV4 = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')

/** The first and last address of each network, and those beside it. */
const edges = V4.flatMap((network) => {
  const [base, length] = network.split('/') as [string, string]
  const first = base.split('.').reduce((value, one) => value * 256 + Number(one), 0)
  const last = first + 2 ** (32 - Number(length)) - 1
  return [first - 1, first, last, last + 1].filter((value) => value >= 0 && value < 2 ** 32).map(toV4)
})

describe('isSpecialAddress', () => {
  it.each(edges)('%s, at the edge of a network', (address) => {
    expect(isSpecialAddress(address)).toBe(isSpecialV4(address))
  })

  it('any IPv4 address, also mapped and behind NAT64', () => {
    fc.assert(
      fc.property(fc.nat({ max: 0xffff_ffff }), (value) => {
        const address = toV4(value)
        const hex = [value >>> 16, value & 0xffff].map((group) => group.toString(16)).join(':')
        for (const text of [
          address,
          `::ffff:${address}`,
          `::ffff:${hex}`,
          `::FFFF:${hex}`,
          `64:ff9b::${hex}`,
        ])
          expect([text, isSpecialAddress(text)]).toEqual([text, isSpecialV4(address)])
      }),
    )
  })

  it('any IPv6 address', () => {
    const group = fc.oneof(fc.constantFrom(0, 0x2001, 0xdb8, 0x2002, 0x3fff, 0xfe80), fc.nat({ max: 0xffff }))
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const address = groups.map((one) => one.toString(16)).join(':')
        const isOfV4 = /^(?:0:0:0:0:0:ffff|64:ff9b:0:0:0:0):/.test(address)
        if (!isOfV4) expect(isSpecialAddress(address)).toBe(isSpecialV6(address))
      }),
    )
  })

  it.each([
    '::1',
    '::',
    '::127.0.0.1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    'ff02::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '100::1',
    '5f00::1',
    '::ffff:169.254.169.254',
    '0:0:0:0:0:ffff:a9fe:a9fe',
  ])('%s is special', (address) => {
    expect(isSpecialAddress(address)).toBe(true)
  })

  it.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])(
    '%s is not',
    (address) => {
      expect(isSpecialAddress(address)).toBe(false)
    },
  )

  it.each([
    '',
    'localhost',
    'example.com',
    '1.1.1',
    '1.1.1.1.1',
    '1.1.1.256',
    '01.1.1.1',
    '0x1.1.1.1',
    '16843009',
    '1.1.1.1 ',
    '1.1.1.1\n',
    '[::1]',
    '2606:4700',
    ':::',
    '2606:4700::g',
    '1'.repeat(1000),
    `${'1:'.repeat(500)}1`,
  ])('%j, which is no address, counts as special', (text) => {
    expect(isSpecialAddress(text)).toBe(true)
    expect(isLoopbackIp(text)).toBe(false)
  })

  it('loopback is 127.0.0.0/8 and ::1', () => {
    for (const address of ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'])
      expect(isLoopbackIp(address)).toBe(true)
    for (const address of ['126.255.255.255', '128.0.0.0', '::2', '::', '10.0.0.1', '0.0.0.0'])
      expect(isLoopbackIp(address)).toBe(false)
  })
})
