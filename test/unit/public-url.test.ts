import { describe, expect, it } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { type HttpConfig, MCPServer, type RequestPlatform } from '../../src/index.ts'
import { createServer, modernRequest } from './_client.ts'

const SPOOFED = {
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-forwarded-prefix': '/evil',
}

async function page(
  url: string,
  { http = {}, platform = {}, headers = {} }: Arrangement = {},
): Promise<{ status: number; text: string }> {
  const request = new Request(url, { headers: { accept: 'text/html', ...headers } })
  const response = await createServer({ http }).handle(request, platform)
  return { status: response.status, text: await response.text() }
}

interface Arrangement {
  http?: HttpConfig
  platform?: RequestPlatform
  headers?: Record<string, string>
}

describe('the address that the page shows', () => {
  it.each<[string, string, Arrangement, string]>([
    ['the request’s own', 'https://a.example/mcp', {}, 'https://a.example/mcp'],
    [
      'with the platform’s prefix, at its root',
      'https://a.example/v1/shop',
      { platform: { prefix: '/v1/shop' } },
      'https://a.example/v1/shop/mcp',
    ],
    [
      'with the platform’s prefix',
      'https://a.example/v1/shop/mcp',
      { platform: { prefix: '/v1/shop' } },
      'https://a.example/v1/shop/mcp',
    ],
    [
      'explicit, whatever the rest says',
      'https://a.example/v1/x',
      {
        http: { publicUrl: 'https://b.example/mcp', trustProxy: true },
        platform: { prefix: '/v1' },
        headers: SPOOFED,
      },
      'https://b.example/mcp',
    ],
    [
      'of a trusted proxy',
      'http://10.0.0.7:8080/mcp',
      {
        http: { trustProxy: true },
        headers: {
          'x-forwarded-host': 'shop.example',
          'x-forwarded-proto': 'https',
          'x-forwarded-prefix': '/api/',
        },
      },
      'https://shop.example/api/mcp',
    ],
    [
      'of a trusted proxy that is an address',
      'http://10.0.0.7/mcp',
      { http: { trustProxy: true }, headers: { 'x-forwarded-host': '[2001:db8::7]:8443' } },
      'http://[2001:db8::7]:8443/mcp',
    ],
    [
      'of a trusted proxy with a prefix of several segments',
      'http://10.0.0.7/mcp',
      {
        http: { trustProxy: true },
        headers: { 'x-forwarded-host': 'shop.example', 'x-forwarded-prefix': '/api/v1.2/~shop' },
      },
      'http://shop.example/api/v1.2/~shop/mcp',
    ],
    [
      'of a trusted proxy that only ends TLS',
      'http://shop.example/mcp',
      { http: { trustProxy: true }, headers: { 'x-forwarded-proto': 'https' } },
      'https://shop.example/mcp',
    ],
    [
      'of a trusted proxy, with its port',
      'http://10.0.0.7/mcp',
      {
        http: { trustProxy: true },
        headers: { 'x-forwarded-host': 'shop.example:8443', 'x-forwarded-proto': 'HTTPS' },
      },
      'https://shop.example:8443/mcp',
    ],
    [
      'of a trusted proxy that says no protocol',
      'https://10.0.0.7/mcp',
      {
        http: { trustProxy: true },
        headers: { 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': '' },
      },
      'https://shop.example/mcp',
    ],
    [
      'of a trusted proxy before a platform with a prefix',
      'https://a.example/v1/shop/mcp',
      {
        http: { trustProxy: true },
        headers: { 'x-forwarded-host': 'shop.example', 'x-forwarded-prefix': '/api' },
        platform: { prefix: '/v1/shop' },
      },
      'https://shop.example/api/v1/shop/mcp',
    ],
    [
      'whole, where its path only begins like the prefix',
      'https://a.example/v1/shopping/mcp',
      { platform: { prefix: '/v1/shop' } },
      'https://a.example/v1/shop/v1/shopping/mcp',
    ],
    [
      'of the nearest of several proxies',
      'http://a.example/mcp',
      { http: { trustProxy: true }, headers: { 'x-forwarded-host': 'evil.example, shop.example' } },
      'http://shop.example/mcp',
    ],
  ])('%s [platform.public-url]', async (_what, url, arrangement, shown) => {
    const { status, text } = await page(url, arrangement)
    expect(status).toBe(200)
    expect(text).toContain(`&quot;url&quot;:&quot;${shown}&quot;`)
  })

  it('forwarded headers change nothing without trustProxy [platform.public-url]', async () => {
    const { text } = await page('https://a.example/mcp', { headers: SPOOFED })
    expect(text).toContain('>https://a.example/mcp<')
    expect(text).not.toContain('evil')
  })

  it.each(['/..', '/.', '/../admin', '/api/..', '/api/.', '//evil.example'])(
    'the prefix %j, even of a trusted proxy, is in no URL that a client is sent to [platform.public-url]',
    async (prefix) => {
      const server = createServer({ http: { trustProxy: true }, auth: bearer(() => undefined) })
      const headers = { 'x-forwarded-prefix': prefix }
      const response = await server.fetch(modernRequest('server/discover', {}, { headers }))
      expect(response.headers.get('www-authenticate')).toBe(
        'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
      )
    },
  )

  it.each([
    { 'x-forwarded-host': 'a"><script>' },
    { 'x-forwarded-host': 'evil.example/path' },
    { 'x-forwarded-host': 'user@evil.example' },
    { 'x-forwarded-proto': 'javascript' },
    { 'x-forwarded-prefix': '//evil.example' },
    { 'x-forwarded-prefix': '/a?b' },
    { 'x-forwarded-prefix': '/a/../b' },
    { 'x-forwarded-prefix': '/..' },
    { 'x-forwarded-prefix': '/.' },
    { 'x-forwarded-prefix': '/a/./b' },
    { 'x-forwarded-host': 'shop.example:' },
    { 'x-forwarded-host': 'shop.example:123456' },
    { 'x-forwarded-host': 'shop.example:99999' },
    { 'x-forwarded-host': '999.1.1.1' },
    { 'x-forwarded-host': '[:::]' },
  ])('what is malformed is ignored, even of a trusted proxy: %j [platform.public-url]', async (headers) => {
    const { text } = await page('https://a.example/mcp', { http: { trustProxy: true }, headers })
    expect(text).toContain('>https://a.example/mcp<')
  })
})

it.each(['//', '///'])(
  'a path of slashes alone, %s → the conventional endpoint, as at the root [platform.public-url]',
  async (path) => {
    const { text } = await page(`https://a.example${path}`)
    expect(text).toContain('>https://a.example/mcp<')
  },
)

it('the root behind a prefix is the root: it shows the page [platform.public-url]', async () => {
  const request = new Request('https://a.example/v1/shop', { headers: { accept: '*/*' } })
  expect((await createServer({}).handle(request, { prefix: '/v1/shop' })).status).toBe(200)
  const elsewhere = new Request('https://a.example/v1/shop/mcp', { headers: { accept: '*/*' } })
  expect((await createServer({}).handle(elsewhere, { prefix: '/v1/shop' })).status).toBe(405)
})

it('the health check is found behind a prefix [platform.public-url]', async () => {
  const request = new Request('https://a.example/v1/shop/healthz')
  const response = await createServer({}).handle(request, { prefix: '/v1/shop' })
  expect(await response.json()).toMatchObject({ status: 'ok' })
})

it('allowedHosts compares the forwarded host only with trustProxy [platform.public-url]', async () => {
  const statusOf = async (trustProxy: boolean) => {
    const http = { allowedHosts: ['shop.example'], trustProxy }
    const headers = { host: 'internal', 'x-forwarded-host': 'shop.example' }
    return (await createServer({ http }).fetch(modernRequest('server/discover', {}, { headers }))).status
  }
  expect([await statusOf(false), await statusOf(true)]).toEqual([403, 200])
})

it.each(['shop.example/mcp', '/mcp', 'ftp://shop.example/mcp'])(
  'publicUrl %s → TypeError that names it [platform.public-url]',
  (publicUrl) => {
    const config = { id: 'a', name: 'a', version: '1', http: { publicUrl } }
    expect(() => new MCPServer(config)).toThrow(/http\.publicUrl/)
  },
)

describe('OAuth metadata without TLS', () => {
  const METADATA = '/.well-known/oauth-protected-resource/mcp'

  async function faults(
    urls: readonly string[],
    http: HttpConfig = {},
    headers: Record<string, string> = {},
  ): Promise<string[]> {
    const told: string[] = []
    const server = new MCPServer({
      id: 'shop',
      name: 'Shop',
      version: '1.0.0',
      auth: bearer(() => undefined),
      http,
      log: false,
      onError: (error) => void told.push((error as Error).message),
    })
    for (const url of urls) expect((await server.fetch(new Request(url, { headers }))).status).toBe(200)
    return told
  }

  it('of a server that is not local is reported, once, with what to set', async () => {
    const told = await faults([`http://shop.example${METADATA}`, `http://other.example${METADATA}`])
    expect(told).toEqual([
      expect.stringMatching(
        /names http:\/\/shop\.example, without TLS: set http\.publicUrl .* or http\.trustProxy/,
      ),
    ])
  })

  it.each<[string, string, HttpConfig, Record<string, string>]>([
    ['on this machine', 'http://localhost:3000', {}, {}],
    ['on this machine, by address', 'http://[::1]:3000', {}, {}],
    ['with TLS', 'https://shop.example', {}, {}],
    ['with an https publicUrl', 'http://10.0.0.1', { publicUrl: 'https://shop.example/mcp' }, {}],
    ['behind a trusted proxy', 'http://shop.example', { trustProxy: true }, { 'x-forwarded-proto': 'https' }],
  ])('%s is not', async (_where, origin, http, headers) => {
    expect(await faults([origin + METADATA], http, headers)).toEqual([])
  })
})
