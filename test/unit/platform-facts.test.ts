/** What adapters tell of a platform, its limits and the caller: the numbers of docs/deploy, and whose word an address is. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bun } from '../../adapters/bun.ts'
import { cloudflare } from '../../adapters/cloudflare.ts'
import { deno } from '../../adapters/deno.ts'
import { netlify, netlifyEdge } from '../../adapters/netlify.ts'
import { supabase } from '../../adapters/supabase.ts'
import { routeHandlers, vercel } from '../../adapters/vercel.ts'
import type { FetchServer, RequestPlatform } from '../../src/index.ts'

const NOW = 1_800_000_000_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  vi.stubGlobal('Deno', { env: { toObject: () => ({ ...process.env }) } })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})

type Call = (server: FetchServer, request: Request) => unknown

/** As a platform calls each; a caller has claimed an address in every header that is used for one. */
const CALLS = {
  cloudflare: (server, request) => cloudflare(server)(request, {}, { waitUntil: () => {} }),
  deno: (server, request) =>
    deno(server)(request, { remoteAddr: { transport: 'tcp', hostname: '192.0.2.9' } }),
  supabase: (server, request) => supabase(server)(request),
  vercel: (server, request) => vercel(server).fetch(request),
  'a route of Vercel': (server, request) => routeHandlers(server).POST(request),
  netlify: (server, request) => netlify(server)(request, { ip: '192.0.2.9' }),
  'netlify-edge': (server, request) => netlifyEdge(server)(request, { ip: '192.0.2.9' }),
  bun: (server, request) =>
    bun(server, { env: {} }).fetch(request, {
      hostname: '0.0.0.0',
      requestIP: () => ({ address: '192.0.2.9' }),
      timeout: () => {},
      stop: async () => {},
    }),
} satisfies { readonly [platform: string]: Call }

type Name = keyof typeof CALLS

const CLAIMS = [
  'x-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'forwarded',
  'x-nf-client-connection-ip',
  'fly-client-ip',
]

async function told(name: Name, headers: Record<string, string> = {}): Promise<RequestPlatform> {
  let platform: RequestPlatform | undefined
  const server: FetchServer = {
    fetch: () => new Response('no'),
    handle: async (_request, given) => {
      platform = given
      return new Response('ok')
    },
  }
  await CALLS[name](server, new Request('https://mcp.example/mcp', { method: 'POST', headers, body: '{}' }))
  return platform!
}

describe('the caller’s address', () => {
  const claimed = Object.fromEntries(CLAIMS.map((name) => [name, '203.0.113.66']))

  it.each<[Name, string | undefined]>([
    ['deno', '192.0.2.9'],
    ['netlify', '192.0.2.9'],
    ['netlify-edge', '192.0.2.9'],
    ['bun', '192.0.2.9'],
    // It comes in a header alone: read with `trustProxy`.
    ['supabase', undefined],
    ['vercel', undefined],
    ['a route of Vercel', undefined],
    ['cloudflare', undefined],
  ])('%s: is the platform’s word, and none of the caller’s [limits.rate]', async (name, address) => {
    expect((await told(name, claimed)).clientAddress).toBe(address)
  })

  it('Cloudflare: cf-connecting-ip, which it sets itself', async () => {
    expect((await told('cloudflare', { 'cf-connecting-ip': '192.0.2.9' })).clientAddress).toBe('192.0.2.9')
  })

  it('Vercel: x-real-ip, which it sets itself, and only in Vercel’s runtime [limits.rate]', async () => {
    const names = ['vercel', 'a route of Vercel'] as const
    // A file of `vercel env pull` has the variable, too.
    vi.stubEnv('VERCEL', '1')
    for (const name of names)
      expect((await told(name, { 'x-real-ip': '192.0.2.9' })).clientAddress).toBeUndefined()
    vi.stubGlobal(Symbol.for('@vercel/request-context') as unknown as string, { get: () => ({}) })
    for (const name of names)
      expect((await told(name, { 'x-real-ip': '192.0.2.9' })).clientAddress).toBe('192.0.2.9')
  })
})

describe('limits', () => {
  const README = readFileSync(join(import.meta.dirname, '../../docs/deploy/README.md'), 'utf8')
  const row = (target: string): string =>
    README.split('\n').find((line) => line.startsWith(`| \`${target}\``)) ?? ''

  interface Limits {
    readonly deadline?: number
    readonly firstByteBy?: number
    readonly maxResponseBytes?: number
  }
  it.each<[Name, Limits, string, readonly string[]]>([
    ['cloudflare', {}, 'cloudflare', ['no limit while']],
    ['deno', {}, 'deno', ['no limit']],
    ['supabase', { deadline: 150, firstByteBy: 150 }, 'supabase', ['150 s']],
    ['vercel', { deadline: 300 }, 'vercel', ['300 s']],
    ['a route of Vercel', { deadline: 300 }, 'vercel', ['300 s']],
    ['netlify', { deadline: 60, maxResponseBytes: 6_000_000 }, 'netlify', ['60 s', '6 MB']],
    ['netlify-edge', { firstByteBy: 40 }, 'netlify', ['at the edge 40 s']],
    ['bun', {}, 'bun', ['no limit']],
  ])('%s: %j, as docs/deploy says [streaming.deadline]', async (name, limits, target, said) => {
    const { deadline, firstByteBy, maxResponseBytes } = await told(name)
    const seconds = (at: number | undefined) => at && (at - NOW) / 1000
    expect({
      deadline: seconds(deadline),
      firstByteBy: seconds(firstByteBy),
      maxResponseBytes,
    }).toEqual({ deadline: undefined, firstByteBy: undefined, maxResponseBytes: undefined, ...limits })
    for (const text of said) expect(row(target)).toContain(text)
  })

  it('Vercel’s Edge runtime: 25 seconds to the first byte', async () => {
    vi.stubGlobal('EdgeRuntime', 'edge-runtime')
    expect((await told('vercel')).firstByteBy).toBe(NOW + 25_000)
    expect(row('vercel')).toContain('at the edge 25 s to the first byte')
  })

  it.each<Name>(['supabase', 'vercel', 'a route of Vercel', 'netlify'])(
    '%s: MAYFLY_MAX_DURATION_MS is another plan’s',
    async (name) => {
      vi.stubEnv('MAYFLY_MAX_DURATION_MS', '400000')
      expect((await told(name)).deadline).toBe(NOW + 400_000)
    },
  )
})
