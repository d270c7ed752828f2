/** Hosts and addresses have many spellings; the guard and the counter see one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLoopbackAddress, parseHost, reachOf, toAddress, toNetwork } from '../../src/request/address.ts'
import { createServer, modernRequest } from '../unit/_client.ts'
import { check } from './_seeded.ts'

const octet = fc.integer({ min: 0, max: 255 })
const group = fc.integer({ min: 0, max: 0xffff })
const port = fc.constantFrom('', ':80', ':3000', ':65535')

type Octets = readonly [number, number, number, number]

const numberOf = ([a, b, c, d]: Octets): number => ((a * 256 + b) * 256 + c) * 256 + d

/** Every way to write an IPv4 address that the URL standard has ("IPv4 parser"), and the IPv6 address that holds it. */
const SPELLINGS: readonly ((address: Octets) => string)[] = [
  (address) => address.join('.'),
  (address) => `${address.join('.')}.`,
  (address) => String(numberOf(address)),
  (address) => `0x${numberOf(address).toString(16)}`,
  (address) => `0X${numberOf(address).toString(16).toUpperCase()}`,
  (address) => `0${numberOf(address).toString(8)}`,
  (address) => address.map((one) => `0x${one.toString(16)}`).join('.'),
  (address) => address.map((one) => `0${one.toString(8)}`).join('.'),
  ([a, ...rest]) => `${a}.${numberOf([0, ...rest])}`,
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  (address) => `[::ffff:${address.join('.')}]`,
  (address) => `[0:0:0:0:0:FFFF:${address.join('.')}]`,
  ([a, b, c, d]) => `[::ffff:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}]`,
]

/** The same by arithmetic, as far as an address without a name goes. */
function reachOfNumber(address: Octets): string {
  const [a, b] = address
  if (a === 127) return 'loopback'
  const isPrivate =
    a === 0 ||
    a === 10 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168)
  return isPrivate ? 'private' : 'public'
}

const address = fc.oneof(
  fc.tuple(octet, octet, octet, octet),
  // Beside the edges of each range.
  fc.tuple(fc.constantFrom(0, 1, 9, 10, 11, 126, 127, 128), octet, octet, octet),
  fc.tuple(fc.constant(100), fc.constantFrom(63, 64, 69, 70, 99, 100, 119, 120, 127, 128), octet, octet),
  fc.tuple(fc.constant(169), fc.constantFrom(253, 254, 255), octet, octet),
  fc.tuple(fc.constant(172), fc.constantFrom(15, 16, 19, 20, 29, 30, 31, 32), octet, octet),
  fc.tuple(fc.constantFrom(191, 192, 193), fc.constantFrom(167, 168, 169), octet, octet),
)

const mixedCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((one, index) => (upper[index] ? one.toUpperCase() : one)).join(''))

describe('an IPv4 address', () => {
  test('is one address in every spelling, and reaches as far as its number says', async () => {
    await check(
      fc.property(address, fc.constantFrom(...SPELLINGS), port, (octets, spell, port) => {
        const host = spell(octets) + port
        expect(parseHost(host)?.name).toBe(octets.join('.'))
        expect(reachOf(host)).toBe(reachOfNumber(octets))
        expect(isLoopbackAddress(host)).toBe(octets[0] === 127)
        expect(toAddress(host)).toBe(octets.join('.'))
      }),
      1000,
    )
  })
})

describe('an IPv6 address', () => {
  test('is one address in every spelling', async () => {
    const groups = fc.tuple(group, group, group, group, group, group, group, group)
    await check(
      fc.property(groups, fc.boolean(), port, (groups, padded, port) => {
        const plain = groups.map((one) => one.toString(16)).join(':')
        const written = groups
          .map((one) =>
            one
              .toString(16)
              .padStart(padded ? 4 : 1, '0')
              .toUpperCase(),
          )
          .join(':')
        expect(parseHost(`[${written}]${port}`)?.name).toBe(parseHost(plain)?.name)
        expect(toAddress(`[${written}]${port}`)).toBe(toAddress(`${plain}%eth0`))
      }),
      300,
    )
  })

  test('is counted with those of its first 64 bits, and with no others', async () => {
    const groups = fc.tuple(...Array.from({ length: 8 }, () => fc.oneof(group, fc.constant(0))))
    const networkOf = (groups: readonly number[]) =>
      toNetwork(toAddress(`[${groups.map((one) => one.toString(16)).join(':')}]`)!)
    await check(
      fc.property(groups, groups, (one, other) => {
        const first = networkOf(one)
        expect(networkOf([...one.slice(0, 4), ...other.slice(4)])).toBe(first)
        expect(first).toBe(
          `${one
            .slice(0, 4)
            .map((part) => part.toString(16))
            .join(':')}::/64`,
        )
        expect(networkOf(other) === first).toBe(String(one.slice(0, 4)) === String(other.slice(0, 4)))
      }),
      500,
    )
  })

  test('an IPv4 address is a network of its own', () => {
    expect(toNetwork('192.0.2.1')).toBe('192.0.2.1')
  })

  test.each([
    ['::1', 'loopback'],
    ['[::1]:3000', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['[0000:0000:0000:0000:0000:0000:0000:0001]', 'loopback'],
    ['::1%lo', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['[::ffff:7f00:2]', 'loopback'],
    ['::', 'private'],
    ['::2', 'private'],
    ['::127.0.0.1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:8.8.8.8', 'public'],
    ['fc00::1', 'private'],
    ['fdff:ffff::1', 'private'],
    ['fb00::1', 'public'],
    ['fe00::1', 'public'],
    ['fe7f::1', 'public'],
    ['fe80::1', 'private'],
    ['[fe80::1%25eth0]', 'private'],
    ['febf::1', 'private'],
    ['fec0::1', 'private'],
    ['feff::1', 'private'],
    ['ff02::1', 'public'],
    ['64:ff9b::7f00:1', 'private'],
    ['64:ff9c::1', 'public'],
    ['2001:db8::1', 'public'],
    ['fc::1', 'public'],
  ])('%s → %s', (host, reach) => {
    expect(reachOf(host)).toBe(reach)
  })
})

describe('a name', () => {
  test('reaches as far as what it ends with, in any case, with a dot at its end or none', async () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
    const suffix = fc.constantFrom(
      ...['local', 'localhost', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'localdomain'],
      'home.arpa',
    )
    await check(
      fc.property(
        label,
        suffix.chain(mixedCase),
        fc.constantFrom('', '.'),
        port,
        (label, suffix, dot, port) => {
          expect(reachOf(`${label}.${suffix}${dot}${port}`)).toBe('private')
          expect(reachOf(`${label}.x.${suffix}${dot}${port}`)).toBe('private')
          expect(reachOf(`${label}${suffix}.example${dot}${port}`)).toBe('public')
          expect(reachOf(`${suffix}.${label}x.example${dot}${port}`)).toBe('public')
          expect(reachOf(`x${label}${dot}${port}`)).toBe('private')
        },
      ),
      300,
    )
  })

  test.each([
    ['localhost', 'loopback'],
    ['LOCALHOST', 'loopback'],
    ['LocalHost.:3000', 'loopback'],
    ['localhost.', 'loopback'],
    ['app.localhost', 'private'],
    ['mylocalhost', 'private'],
    ['localhost.example', 'public'],
    ['notlocal.example', 'public'],
    ['mylocal.dev', 'public'],
    ['home.arpa', 'private'],
    ['arpa.example', 'public'],
    ['10.example.com', 'public'],
    ['8.127.0.1', 'public'],
    ['8.10.0.1', 'public'],
    ['1.192.168.1', 'public'],
    ['172.16.0.1.example', 'public'],
    ['127.0.0.1.nip.io', 'public'],
    ['mcp.example', 'public'],
    ['my_service', 'private'],
    ['bücher.example', 'public'],
  ])('%s → %s', (host, reach) => {
    expect(reachOf(host)).toBe(reach)
  })
})

describe('what is no host', () => {
  test.each([
    '',
    '.',
    ':80',
    'a b',
    'user@localhost',
    'localhost/x',
    'localhost?x',
    'localhost#x',
    'local\thost',
    '\\localhost',
    '%6cocalhost',
    'localhost..',
    'localhost。。',
    '0.0..',
    '127.0.0.1..',
    '127..1',
    'mcp..example',
    'localhost:http',
    'localhost:123456',
    '[::1',
    '::1]',
    'evil.example[::1]',
    'evil.example[::1]:80',
    '[::1]evil.example',
    'evil]:80',
    '[]',
    '[localhost]',
    '1.2.3.4.5',
    '256.1.1.1',
    '999999999999',
    `${'a.'.repeat(200)}example`,
  ])('%j has no name, and is not let to be public', (host) => {
    expect(parseHost(host)).toBeUndefined()
    expect(reachOf(host)).toBe('private')
    expect(isLoopbackAddress(host)).toBe(false)
  })

  test('a name may have 255 characters, and no more', () => {
    const name = `${'a.'.repeat(124)}example`
    expect(parseHost(name)?.name).toHaveLength(255)
    expect(parseHost(`a${name}`)).toBeUndefined()
  })

  test.each([
    '',
    'unknown',
    '_hidden',
    'a.1x.example',
    'mcp.example',
    'for=',
    '"',
    'for="a.1"b"',
    '1.2.3.4"5',
  ])('%j is no address', (text) => expect(toAddress(text)).toBeUndefined())

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['"192.0.2.1:80"', '192.0.2.1'],
    ['For="[2001:db8::1]:80"', '2001:db8::1'],
    ['for=192.0.2.1', '192.0.2.1'],
  ])('%j is one, of %s', (text, address) => expect(toAddress(text)).toBe(address))

  test('any text → an answer', async () => {
    await check(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(['public', 'private', 'loopback']).toContain(reachOf(text))
        expect(toAddress(text) ?? '').toMatch(/^[\da-f.:]*$/)
      }),
      1000,
    )
  })
})

describe('the guard', () => {
  const statusOf = async (host: string, origin?: string, loopback = false) => {
    const headers = { host, origin }
    const request = modernRequest('server/discover', {}, { headers })
    return (await createServer({}).handle(request, { loopback })).status
  }

  test('no spelling of a host of this machine or network is read by a website [guard.rebinding]', async () => {
    await check(
      fc.asyncProperty(address, fc.constantFrom(...SPELLINGS), port, async (octets, spell, port) => {
        const host = spell(octets) + port
        const reach = reachOfNumber(octets)
        expect(await statusOf(host, 'https://evil.example')).toBe(reach === 'public' ? 200 : 403)
        expect(await statusOf(host, undefined, true)).toBe(reach === 'loopback' ? 200 : 403)
        expect(await statusOf(host)).toBe(200)
      }),
      300,
    )
  })
})
