/** docs/http.md lists which hosts are private: the first and last address of each network, and every suffix. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createServer, modernRequest } from '../unit/_client.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/http.md'), 'utf8')
const list = /Private\s+hosts are:([\s\S]*?)in every spelling/.exec(page)?.[1] ?? ''

/** What a page of another site gets from a server at this host. */
async function statusAt(host: string): Promise<number> {
  const headers = { host, origin: 'https://evil.example' }
  return (await createServer().fetch(modernRequest('server/discover', {}, { headers }))).status
}

/** The first and last address of `192.168/16`, and those before and after them. */
function edgesOfV4(net: string): { inside: string[]; outside: string[] } {
  const [base = '', bits = ''] = net.split('/')
  const octets = [...base.split('.').map(Number), 0, 0, 0].slice(0, 4)
  const first = octets.reduce((sum, octet) => sum * 256 + octet, 0)
  const last = first + 2 ** (32 - Number(bits)) - 1
  const text = (value: number) =>
    [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
  const outside = [first - 1, last + 1].filter((value) => value >= 0 && value < 2 ** 32)
  return { inside: [first, last].map(text), outside: outside.map(text) }
}

function edgesOfV6(net: string): { inside: string[]; outside: string[] } {
  const [base = '', bits = ''] = net.split('/')
  const first = Number.parseInt(base.replace('::', ''), 16)
  const last = first + 2 ** (16 - Number(bits)) - 1
  const text = (value: number, rest: string) => `[${value.toString(16)}${rest}]`
  const all = ':ffff:ffff:ffff:ffff:ffff:ffff:ffff'
  return {
    inside: [text(first, '::'), text(last, all)],
    outside: [text(first - 1, all), ...(last < 0xffff ? [text(last + 1, '::')] : [])],
  }
}

it('every network that is listed is private to its edges, and what lies beside it is not', async () => {
  const v4 = Array.from(list.matchAll(/\b\d[\d.]*\/\d+/g), ([net]) => edgesOfV4(net))
  const v6 = Array.from(list.matchAll(/\b[\da-f]{4}::\/\d+/g), ([net]) => edgesOfV6(net))
  expect([v4.length, v6.length]).toEqual([7, 3])
  const inside = [...v4, ...v6].flatMap((edges) => edges.inside)
  for (const host of [...inside, '[::]', '[::1]']) expect([host, await statusAt(host)]).toEqual([host, 403])
  for (const host of [...v4, ...v6].flatMap((edges) => edges.outside)) {
    // Beside one network there may be another that is private.
    const isListed = inside.includes(host)
    expect([host, await statusAt(host)]).toEqual([host, isListed ? 403 : 200])
  }
})

it('every suffix and name that is listed is private, and no longer name that only ends alike', async () => {
  const names = Array.from(list.matchAll(/`([a-z.]+)`/g), ([, name]) => name!)
  expect(names.length).toBeGreaterThan(11)
  for (const name of names) {
    const host = name.startsWith('.') ? `mcp${name}` : name
    expect([host, await statusAt(host)]).toEqual([host, 403])
    expect([host, await statusAt(`${host}.example`)]).toEqual([host, 200])
  }
})
