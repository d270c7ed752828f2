/** What adapters say of the host in a request's URL: whether its listener is bound to this machine, and whether the platform vouches for it. */
import { Hono } from 'hono'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bun } from '../../adapters/bun.ts'
import { cloudflare } from '../../adapters/cloudflare.ts'
import { deno } from '../../adapters/deno.ts'
import { mcp } from '../../adapters/hono.ts'
import { netlify, netlifyEdge } from '../../adapters/netlify.ts'
import type { FetchServer } from '../../adapters/node.ts'
import { supabase } from '../../adapters/supabase.ts'
import { routeHandlers, vercel } from '../../adapters/vercel.ts'
import { createTool, MCPServer, type RequestPlatform } from '../../src/index.ts'
import { createServer, modernRequest } from './_client.ts'

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
    expect(seen.map(({ loopback }) => loopback)).toEqual([isLoopback])
  },
)

it.each([
  ['127.0.0.1', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['192.0.2.9', false],
  ['2001:db8::1', false],
  [undefined, false],
])(
  'Bun: a connection from %j is loopback: %j, whatever its hostname says [guard.rebinding]',
  async (address, isLoopback) => {
    const { server, seen } = createSpy()
    const { fetch } = bun(server, { env: {} })
    // Bun says `localhost` where no hostname was set and it listens on all interfaces.
    for (const hostname of ['localhost', '127.0.0.1', '0.0.0.0', undefined]) {
      const requestIP = () => (address === undefined ? null : { address })
      const listener = { hostname, requestIP, timeout: () => {}, stop: async () => {} }
      await fetch(new Request('http://localhost:3000/mcp'), listener)
    }
    expect(seen.map(({ loopback }) => loopback)).toEqual(Array(4).fill(isLoopback))
  },
)

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})

/** Where Vercel's runtime has the context of each request. */
const VERCEL_CONTEXT = Symbol.for('@vercel/request-context') as unknown as string

const request = () => new Request('https://mcp.example/mcp')

it('Workers vouch for the host [auth.resource]', async () => {
  const { server, seen } = createSpy()
  await cloudflare(server)(request(), {}, { waitUntil: () => {} })
  expect(seen).toMatchObject([{ vouchesForHost: true }])
})

it.each([
  ['1', {}, true],
  // A file of `vercel env pull`, on any other platform.
  ['1', undefined, false],
  [undefined, {}, false],
  [undefined, undefined, false],
])(
  'Vercel’s variable is %j, its context %j → vouches: %j [auth.resource]',
  async (variable, context, vouchesForHost) => {
    const { server, seen } = createSpy()
    vi.stubEnv('VERCEL', variable)
    if (context !== undefined) vi.stubGlobal(VERCEL_CONTEXT, { get: () => context })
    await vercel(server).fetch(request())
    await routeHandlers(server).POST(request())
    expect(seen).toMatchObject([{ vouchesForHost }, { vouchesForHost }])
  },
)

describe('a route of Next.js in development', () => {
  const named = (host: string, headers: object = {}) =>
    new Request(`http://${host}/mcp`, { headers: { host, accept: 'text/html', ...headers } })
  const routes = (http: object = {}) =>
    routeHandlers(new MCPServer({ name: 'a', version: '1', log: false, http }), { env: {} })

  it('refuses a foreign Host, whatever a page claims, and serves the named ones [guard.rebinding]', async () => {
    vi.stubEnv('NODE_ENV', 'development')
    const claims = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'localhost:3000' }
    const { GET } = routes()

    for (const headers of [{}, claims]) expect((await GET(named('evil.example', headers))).status).toBe(403)
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000'])
      expect((await GET(named(host))).status).toBe(200)
    for (const http of [{ allowedHosts: ['my.tunnel'] }, { publicUrl: 'https://my.tunnel/mcp' }])
      expect((await routes(http).GET(named('my.tunnel'))).status).toBe(200)
  })

  it.each([
    ['production', 200],
    ['test', 200],
    [undefined, 200],
  ])('NODE_ENV %j → any Host: %d', async (mode, status) => {
    vi.stubEnv('NODE_ENV', mode)
    expect((await routes().GET(named('shop.example'))).status).toBe(status)
  })

  it('is not one on Vercel, nor a function outside Next.js', async () => {
    const { server, seen } = createSpy()
    vi.stubEnv('NODE_ENV', 'development')
    await vercel(server).fetch(request())
    vi.stubEnv('VERCEL', '1')
    vi.stubGlobal(VERCEL_CONTEXT, { get: () => ({}) })
    await routeHandlers(server).GET(request())

    expect(seen.map(({ loopback }) => loopback)).toEqual([undefined, undefined])
  })
})

it.each([
  [{ env: { toObject: () => ({}) } }, true],
  [undefined, false],
])('Netlify’s global is %j → vouches: %j [auth.resource]', async (global, vouchesForHost) => {
  const { server, seen } = createSpy()
  vi.stubGlobal('Netlify', global)
  await netlify(server)(request())
  await netlifyEdge(server)(request())
  expect(seen).toMatchObject([{ vouchesForHost }, { vouchesForHost }])
})

it.each([
  ['https://ref.supabase.co', true],
  ['http://kong:8000', false],
  [undefined, false],
])('Supabase’s URL is %j → vouches: %j [auth.resource]', async (url, vouchesForHost) => {
  const { server, seen } = createSpy()
  vi.stubGlobal('Deno', { env: { toObject: () => ({ ...(url !== undefined && { SUPABASE_URL: url }) }) } })
  await supabase(server)(request())
  expect(seen).toMatchObject([{ vouchesForHost }])
})

it.each([
  [{ DENO_DEPLOYMENT_ID: 'abc' }, true],
  [{}, false],
])('Deno’s environment is %j → vouches: %j [auth.resource]', async (env, vouchesForHost) => {
  const { server, seen } = createSpy()
  await deno(server, { env })(request())
  expect(seen).toMatchObject([{ vouchesForHost }])
})

it('a listener of one’s own vouches for nothing [auth.resource]', async () => {
  const { server, seen } = createSpy()
  const listener = { hostname: '0.0.0.0', requestIP: () => null, timeout: () => {}, stop: async () => {} }
  await bun(server, { env: {} }).fetch(request(), listener)
  expect(seen[0]).not.toHaveProperty('vouchesForHost')
})

describe('a connection over a loopback address, where nothing says what the listener is bound to', () => {
  const foreign = () =>
    new Request('http://evil.example/mcp', { method: 'POST', headers: { host: 'evil.example' } })
  const connections: [string, (address: string) => object][] = [
    ['@hono/node-server', (remoteAddress) => ({ incoming: { socket: { remoteAddress } }, outgoing: {} })],
    ['deno serve', (hostname) => ({ remoteAddr: { transport: 'tcp', hostname } })],
    ['bun', (address) => ({ requestIP: () => ({ address }) })],
  ]
  const server = (http: object = {}) => new MCPServer({ name: 'a', version: '1', log: false, http })

  it.each(connections)(
    '%s: its own fetch refuses a foreign Host [guard.rebinding]',
    async (_name, connect) => {
      for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
        const refused = await server().fetch(foreign(), connect(address))
        expect(refused.status).toBe(403)
        expect(await refused.text()).toContain(
          'set http.allowedHosts, http.publicUrl or MAYFLY_ALLOWED_HOSTS',
        )
        for (const http of [{ allowedHosts: ['evil.example'] }, { publicUrl: 'https://evil.example/mcp' }])
          expect((await server(http).fetch(foreign(), connect(address))).status).not.toBe(403)
      }
      expect((await server().fetch(foreign(), connect('192.0.2.1'))).status).not.toBe(403)
    },
  )

  it.each(connections)(
    '%s: its own fetch has no variables, and says so once if it is public',
    async (_name, connect) => {
      const warnings: string[] = []
      const envs: unknown[] = []
      const look = createTool({ id: 'look', execute: (_input, ctx) => envs.push(ctx.env) })
      const server = createServer({ tools: { look }, onError: (error) => void warnings.push(String(error)) })
      const call = () =>
        modernRequest('tools/call', { name: 'look', arguments: {} }, { url: 'http://localhost/mcp' })
      await server.fetch(call(), connect('127.0.0.1'))
      expect(warnings).toEqual([])
      for (let times = 0; times < 2; times++) await server.fetch(call(), connect('192.0.2.1'))
      expect(warnings).toEqual([expect.stringMatching(/MAYFLY_ALLOWED_HOSTS and MAYFLY_SECRET.*adapter/)])
      expect(envs).toEqual([{}, {}, {}])
    },
  )

  it.each(connections)('%s: so does mcp in a Hono app [guard.rebinding]', async (_name, connect) => {
    const app = new Hono().all('/mcp', mcp(server()))
    expect((await app.fetch(foreign(), connect('127.0.0.1'))).status).toBe(403)
    expect((await app.fetch(foreign(), connect('192.0.2.1'))).status).not.toBe(403)
  })

  it('deno without a hostname: the same [guard.rebinding]', async () => {
    const remote = (hostname: string) => ({ remoteAddr: { transport: 'tcp', hostname } })
    const handle = deno(server(), { env: {} })
    expect((await handle(foreign(), remote('127.0.0.1'))).status).toBe(403)
    expect((await handle(foreign(), remote('192.0.2.1'))).status).not.toBe(403)
  })
})
