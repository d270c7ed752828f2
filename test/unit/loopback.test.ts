/** What adapters say of the address that a listener is bound to: with the same words, whatever the platform. */
import { expect, it } from 'vitest'
import { bun } from '../../adapters/bun.ts'
import { deno } from '../../adapters/deno.ts'
import type { FetchServer } from '../../adapters/node.ts'
import type { RequestPlatform } from '../../src/index.ts'

const LOOPBACK = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  '127.0.0.1',
  '127.0.0.2',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
]
const OPEN = [
  undefined,
  '',
  '0.0.0.0',
  '::',
  '192.168.0.7',
  'mcp.example',
  '127.evil.example',
  'localhost.evil.example',
]

function createSpy(): { server: FetchServer; seen: RequestPlatform[] } {
  const seen: RequestPlatform[] = []
  const handle = async (_request: Request, platform: RequestPlatform) => {
    seen.push(platform)
    return new Response('ok')
  }
  return { server: { fetch: () => new Response('no'), handle }, seen }
}

it.each([...LOOPBACK.map((name) => [name, true] as const), ...OPEN.map((name) => [name, false] as const)])(
  'a listener on %j is loopback: %j [guard.rebinding]',
  async (hostname, isLoopback) => {
    const { server, seen } = createSpy()
    const request = new Request('http://localhost:3000/mcp')
    await deno(server, { env: {}, ...(hostname !== undefined && { hostname }) })(request)
    const listener = { hostname, requestIP: () => null, timeout: () => {}, stop: async () => {} }
    const { fetch } = bun(server, { env: {} })
    await fetch(request, listener)
    await fetch(request, listener)
    expect(seen.map(({ loopback }) => loopback)).toEqual([isLoopback, isLoopback, isLoopback])
  },
)
