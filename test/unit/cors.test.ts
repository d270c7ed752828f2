import { describe, expect, it } from 'vitest'
import { createServer, ENDPOINT, initialize, modernRequest, post } from './_client.ts'

const ORIGIN = 'https://app.example'

const preflight = (headers: Record<string, string> = {}, server = createServer()) =>
  server.fetch(
    new Request(ENDPOINT, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST', ...headers },
    }),
  )

const listOf = (response: Response, header: string) =>
  (response.headers.get(header) ?? '').toLowerCase().split(/, ?/)

describe('a preflight', () => {
  it('allows what MCP clients send [cors.preflight]', async () => {
    const response = await preflight()
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(listOf(response, 'access-control-allow-methods')).toContain('post')
    expect(listOf(response, 'access-control-allow-headers')).toEqual(
      expect.arrayContaining([
        'accept',
        'authorization',
        'content-type',
        'last-event-id',
        'mcp-method',
        'mcp-name',
        'mcp-protocol-version',
        'mcp-session-id',
      ]),
    )
    expect(Number(response.headers.get('access-control-max-age'))).toBeGreaterThan(0)
  })

  it('allows the Mcp-Param headers it asks for, by name [cors.preflight]', async () => {
    const asked = 'content-type, Mcp-Param-Region,mcp-param-tenant_id'
    const allowed = listOf(
      await preflight({ 'access-control-request-headers': asked }),
      'access-control-allow-headers',
    )
    expect(allowed).toEqual(expect.arrayContaining(['mcp-param-region', 'mcp-param-tenant_id']))
    expect(listOf(await preflight(), 'access-control-allow-headers').join()).not.toContain('mcp-param')
  })

  it('allows nothing else it asks for [cors.preflight]', async () => {
    const asked = 'x-evil, mcp-param-, cookie, mcp-param-a b'
    const allowed = listOf(
      await preflight({ 'access-control-request-headers': asked }),
      'access-control-allow-headers',
    )
    for (const name of ['x-evil', 'mcp-param-', 'cookie', 'mcp-param-a b'])
      expect(allowed).not.toContain(name)
  })

  it('varies by what is asked, for caches [cors.preflight]', async () => {
    expect((await preflight()).headers.get('vary')).toMatch(/access-control-request-headers/i)
  })

  it('never allows credentials [cors.preflight]', async () => {
    expect((await preflight()).headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('from an origin that is not allowed → 403 without leave [cors.preflight] [guard.origin]', async () => {
    const response = await preflight(
      {},
      createServer({ http: { allowedOrigins: ['https://other.example'] } }),
    )
    expect(response.status).toBe(403)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('an answer to a browser', () => {
  it('may be read, session and request id included [cors.response]', async () => {
    const { headers } = await initialize(createServer(), {}, { origin: ORIGIN })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const exposed = headers.get('access-control-expose-headers')
    for (const name of ['mcp-session-id', 'x-request-id', 'www-authenticate']) expect(exposed).toContain(name)
  })

  it.each([
    ['a stream', { accept: 'text/event-stream' }, 200],
    ['a refusal', { 'mcp-method': 'wrong' }, 400],
    ['an unsupported type', { 'content-type': 'text/plain' }, 415],
  ])('so may %s [cors.response]', async (_kind, headers, status) => {
    const response = await createServer().fetch(
      modernRequest('server/discover', {}, { headers: { origin: ORIGIN, ...headers } }),
    )
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([status, '*'])
  })

  it('without an Origin there is no CORS header [cors.response]', async () => {
    const response = await createServer().fetch(post({ jsonrpc: '2.0', id: 1, method: 'ping' }))
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })
})
