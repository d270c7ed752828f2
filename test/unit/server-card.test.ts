/** The server card and the catalog, by the draft of MCP's extension (docs/discovery.md of July 2026). */
import { describe, expect, it } from 'vitest'
import { staticTokens } from '../../src/auth.ts'
import { createTool, MCPServer } from '../../src/index.ts'
import { type ServerCardOptions, withServerCard } from '../../src/server-card.ts'

const URL_OF_SHOP = 'https://mcp.shop.example/mcp'

function shop(config: object = {}): MCPServer {
  return new MCPServer({
    id: 'shop',
    name: 'Shop',
    version: '1.2.3',
    description: 'Sells things.',
    websiteUrl: 'https://shop.example/',
    tools: { secretTool: createTool({ id: 'secretTool', execute: () => 'done' }) },
    ...config,
  })
}

const get = (path: string, init?: RequestInit, options: Partial<ServerCardOptions> = {}) =>
  withServerCard(shop(), { url: URL_OF_SHOP, ...options }).fetch(new Request(`http://inner${path}`, init))

describe('withServerCard', () => {
  it('the card: who the server is and where, not what it can do', async () => {
    const response = await get('/mcp/server-card')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/mcp-server-card+json')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600')
    const text = await response.text()
    expect(text).not.toContain('secretTool')
    expect(JSON.parse(text)).toEqual({
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'example.shop.mcp/shop',
      version: '1.2.3',
      description: 'Sells things.',
      title: 'Shop',
      websiteUrl: 'https://shop.example/',
      remotes: [
        {
          type: 'streamable-http',
          url: URL_OF_SHOP,
          supportedProtocolVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
        },
      ],
    })
  })

  it('the catalog leads to the card', async () => {
    const response = await get('/.well-known/ai-catalog.json', undefined, { name: 'example.shop/shop' })
    expect(response.headers.get('content-type')).toBe('application/ai-catalog+json')
    expect(await response.json()).toEqual({
      specVersion: '1.0',
      entries: [
        {
          identifier: 'urn:air:shop.example:mcp:shop',
          type: 'application/mcp-server-card+json',
          url: 'https://mcp.shop.example/mcp/server-card',
        },
      ],
    })
  })

  it('a client that has it already → 304', async () => {
    const etag = (await get('/mcp/server-card')).headers.get('etag')!
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await get('/mcp/server-card', { headers: { 'if-none-match': sent } })
      expect([response.status, await response.text()]).toEqual([304, ''])
    }
    expect((await get('/mcp/server-card', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  it('HEAD, OPTIONS and what a document cannot do', async () => {
    const head = await get('/mcp/server-card', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await get('/mcp/server-card', { method: 'OPTIONS' })).status).toBe(204)
    expect((await get('/mcp/server-card', { method: 'POST', body: '{}' })).status).toBe(405)
  })

  it('behind a prefix of the platform, with or without it in the path', async () => {
    const server = withServerCard(shop(), { url: 'https://x.example/functions/v1/shop/mcp' })
    const card = (path: string, prefix?: string) =>
      server.handle!(new Request(`http://inner${path}`), prefix === undefined ? {} : { prefix })
    expect((await card('/functions/v1/shop/mcp/server-card', '/functions/v1/shop')).status).toBe(200)
    expect((await card('/shop/mcp/server-card')).status).toBe(200)
    expect((await card('/server-card')).headers.get('content-type')).not.toContain('server-card')
    expect((await card('/other/server-card')).headers.get('content-type')).not.toContain('server-card')
  })

  it('everything else is the server’s', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
    }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const response = await get('/mcp', { method: 'POST', headers, body: JSON.stringify(initialize) })
    expect(await response.json()).toMatchObject({ result: { serverInfo: { name: 'Shop' } } })
  })

  it('both are public where the server asks for a token', async () => {
    const auth = staticTokens([{ token: 'a-token-of-thirty-two-characters', clientId: 'someone' }])
    const server = withServerCard(shop({ auth }), { url: URL_OF_SHOP })
    expect((await server.fetch(new Request('http://inner/mcp/server-card'))).status).toBe(200)
  })

  it.each([' https://mcp.shop.example/mcp\n', 'HTTPS://MCP.shop.example:443/mcp?#'])(
    'names the endpoint as a URL is written, not as %j',
    async (url) => {
      const card = await (await get('/mcp/server-card', undefined, { url })).json()
      expect(card.remotes[0].url).toBe(URL_OF_SHOP)
    },
  )

  it('counts and cuts texts by characters, not within one', async () => {
    const server = withServerCard(shop({ title: `${'a'.repeat(99)}🍏🍎`, description: '🍏'.repeat(100) }), {
      url: URL_OF_SHOP,
    })
    const card = await (await server.fetch(new Request('http://inner/mcp/server-card'))).json()
    expect(card).toMatchObject({ title: `${'a'.repeat(99)}🍏`, description: '🍏'.repeat(100) })
  })

  it('an option that does not exist, and none at all → a TypeError that says so', () => {
    const misspelt = { url: URL_OF_SHOP, descripton: 'Sells things.' }
    expect(() => withServerCard(shop(), misspelt)).toThrow(
      'withServerCard has no option "descripton": did you mean "description"?',
    )
    expect(() => Reflect.apply(withServerCard, undefined, [shop()])).toThrow(
      /^withServerCard needs "url": the public URL of the MCP endpoint/,
    )
  })

  it('what is no MCPServer → TypeError', () => {
    const foreign = { fetch: () => new Response('hello') }
    expect(() => withServerCard(foreign as never, { url: URL_OF_SHOP })).toThrow(/takes an MCPServer/)
  })

  it.each<[what: string, options: ServerCardOptions]>([
    ['no URL', { url: '/mcp' }],
    ['another scheme', { url: 'file:///mcp' }],
    ['a password', { url: 'https://user:secret@shop.example/mcp' }],
    ['a query, which may hold a secret', { url: 'https://shop.example/mcp?key=1' }],
    ['a name without a namespace', { url: URL_OF_SHOP, name: 'shop' }],
    ['a long description', { url: URL_OF_SHOP, description: 'a'.repeat(101) }],
  ])('%s → TypeError', (_what, options) => {
    expect(() => withServerCard(shop(), options)).toThrow(TypeError)
  })
})
