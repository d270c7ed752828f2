import { Hono } from 'hono'
import { describe, expect, it, vi } from 'vitest'
import { createPrompt, createResource, createTool, type HttpConfig } from '../../src/index.ts'
import { createServer, modernRequest, readAnswer } from './_client.ts'

const fixture = (http: HttpConfig = {}) =>
  createServer({
    http,
    instructions: 'Be brief.',
    tools: {
      add: createTool({ id: 'add', description: 'Adds', execute: () => '' }),
      hidden: createTool({ id: 'hidden', enabled: false, execute: () => '' }),
    },
    prompts: { review: createPrompt({ get: () => '' }) },
    resources: [createResource({ uri: 'docs://readme', read: () => '' })],
  })

const request = (path: string, init?: RequestInit) => new Request(`https://mcp.example${path}`, init)
const browse = (path: string, http?: HttpConfig) =>
  fixture(http).fetch(request(path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }))

describe('any path', () => {
  it.each([
    '/',
    '/mcp',
    '/api/v1/mcp/',
    '/functions/v1/shop',
    '/mcp?session=1',
    '/a%20b',
    '/healthz',
    '/favicon.ico',
    '/.well-known/oauth-protected-resource/mcp',
  ])('POST %s → served [http.any-path]', async (path) => {
    const response = await fixture().fetch(
      modernRequest('tools/list', {}, { url: `https://mcp.example${path}` }),
    )
    expect(response.status).toBe(200)
  })

  it('inside a Hono app, beside its own routes [http.any-path]', async () => {
    const server = fixture()
    const app = new Hono()
    app.get('/', (c) => c.text('the rest of the app'))
    app.all('/api/mcp', (c) => server.fetch(c.req.raw))
    app.all('/api/mcp/*', (c) => server.fetch(c.req.raw))
    expect(await (await app.request('/')).text()).toBe('the rest of the app')
    const answer = await app.fetch(modernRequest('tools/list', {}, { url: 'https://mcp.example/api/mcp' }))
    expect((await readAnswer(answer)).result).toHaveProperty('tools')
    expect((await app.request('/api/mcp/healthz')).status).toBe(200)
  })

  it('inside a mounted Hono app, as fetch alone [http.any-path]', async () => {
    const { fetch } = fixture()
    const app = new Hono().mount('/api', fetch)
    const answer = await app.fetch(modernRequest('tools/list', {}, { url: 'https://mcp.example/api/mcp' }))
    expect((await readAnswer(answer)).result).toHaveProperty('tools')
  })
})

it.each([
  [{ replaceRequest: false as const }, 'https://mcp.example/api/mcp'],
  // As docs/mounting.md warns.
  [undefined, 'https://mcp.example/mcp'],
])('mounted in Hono with %j the page shows %s [page.shown]', async (options, endpoint) => {
  const app = new Hono().mount('/api', fixture().fetch, options as never)
  const response = await app.request('https://mcp.example/api/mcp', { headers: { accept: 'text/html' } })
  const page = await response.text()
  expect(page).toContain(`${endpoint}<`)
  expect(page.includes('https://mcp.example/api/mcp')).toBe(endpoint.includes('/api/'))
})

describe('methods', () => {
  it.each(['PUT', 'PATCH', 'DELETE'])('%s → 405 with what is allowed [http.method]', async (method) => {
    const response = await fixture().fetch(request('/mcp', { method }))
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS'])
  })

  it('GET is not allowed where neither page nor health check is on [http.method] [page.off]', async () => {
    const response = await fixture({ page: false, health: false }).fetch(request('/'))
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })
})

describe('x-request-id', () => {
  it.each(['abc-123', '7f9c.A_b', 'x'.repeat(64)])(
    '%s of the client → taken over [http.request-id]',
    async (id) => {
      const response = await fixture().fetch(request('/healthz', { headers: { 'x-request-id': id } }))
      expect(response.headers.get('x-request-id')).toBe(id)
    },
  )

  it.each(['', 'x'.repeat(65), 'a b', '{"level":"error"}', '<script>', 'a,b'])(
    '%j, which could harm a log → a new one [http.request-id]',
    async (id) => {
      const response = await fixture().fetch(request('/healthz', { headers: { 'x-request-id': id } }))
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})

describe('every answer', () => {
  it.each<[string, Request]>([
    ['a result', modernRequest('tools/list')],
    ['a stream', modernRequest('tools/list', {}, { headers: { accept: 'text/event-stream' } })],
    ['the page', request('/', { headers: { accept: 'text/html' } })],
    ['the health check', request('/healthz')],
    [
      'a 403',
      modernRequest(
        'tools/list',
        {},
        { url: 'http://localhost/', headers: { origin: 'https://evil.example' } },
      ),
    ],
    ['a 404', request('/favicon.ico')],
    ['a 405', request('/mcp', { method: 'DELETE' })],
    ['a 415', request('/mcp', { method: 'POST', body: 'x' })],
  ])('%s forbids sniffing and storing [http.no-sniff]', async (_kind, asked) => {
    const { headers } = await fixture().fetch(asked)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toMatch(/no-store|no-cache/)
  })
})

it('of a server that cannot be compiled, too [http.no-sniff]', async () => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const broken = createServer({ resources: [{ name: 'lost', read: () => '' }] as never })
  const { status, headers } = await broken.fetch(modernRequest('tools/list'))
  expect([status, headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual([
    500,
    'nosniff',
    'no-store',
  ])
  reported.mockRestore()
})

describe('the page', () => {
  it.each(['/', '/mcp', '/any/where'])(
    'a browser’s GET %s → HTML of what the server is [page.shown]',
    async (path) => {
      const response = await browse(path)
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8',
      ])
      const page = await response.text()
      for (const shown of ['Test', '1.0.0', 'add', 'Adds', 'review', 'docs://readme', 'Be brief.'])
        expect(page).toContain(shown)
      expect(page).not.toContain('hidden</')
    },
  )

  it('loads nothing, and its policy would not let it [page.shown]', async () => {
    const response = await browse('/')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe-(inline|eval)/)
    expect(await response.text()).not.toMatch(/<(link|script|img)[^>]+(src|href)=["']?https?:/)
  })

  it.each([
    ['/', 'https://mcp.example/mcp'],
    ['/api/mcp/', 'https://mcp.example/api/mcp'],
  ])('at %s shows the endpoint %s [page.shown]', async (path, endpoint) => {
    expect(await (await browse(path)).text()).toContain(endpoint)
  })

  it('shows publicUrl where there is one [page.shown]', async () => {
    const page = await (await browse('/', { publicUrl: 'https://public.example/shop' })).text()
    expect(page).toContain('https://public.example/shop')
    expect(page).not.toContain('mcp.example')
  })

  it('is not for clients: GET / for a stream → 405 [page.shown] [legacy.get-delete]', async () => {
    const response = await fixture().fetch(request('/', { headers: { accept: 'text/event-stream' } }))
    expect(response.status).toBe(405)
  })

  it('escapes what the URL brings [page.shown]', async () => {
    const page = await (await browse('/"><script>alert(1)</script>')).text()
    expect(page).not.toContain('<script>alert(1)')
  })

  it('any Host, as platforms probe by address: 200; from a page of another origin: 403 [page.health]', async () => {
    const server = fixture({ allowedHosts: ['mcp.example'] })
    const probe = (headers: Record<string, string>) =>
      server.fetch(
        new Request('https://10.0.0.7:3000/healthz', { headers: { host: '10.0.0.7:3000', ...headers } }),
      )
    expect((await probe({})).status).toBe(200)
    expect((await probe({ origin: 'https://evil.example' })).status).toBe(403)
  })

  it('HEAD → the same headers, no body [page.health]', async () => {
    const response = await fixture().fetch(request('/healthz', { method: 'HEAD' }))
    expect([response.status, response.headers.get('content-type'), response.body]).toEqual([
      200,
      'application/json',
      null,
    ])
  })

  it('turned off → 405 [page.off]', async () => {
    expect((await browse('/', { page: false })).status).toBe(405)
  })

  it.each([
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-authorization-server/mcp',
    '/favicon.ico',
  ])('%s is none: 404', async (path) => {
    expect((await browse(path)).status).toBe(404)
  })
})

describe('the content of a body', () => {
  const send = (headers: Record<string, string>) =>
    fixture().fetch(
      request('/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      }),
    )

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;Charset="UTF-8"',
    'application/json; charset=utf8; profile=x',
    'application/json; profile="charset=utf-16"',
  ])('%s → served [http.content-type]', async (type) => {
    expect((await send({ 'content-type': type })).status).toBe(200)
  })

  it.each([
    'application/json; charset=utf-16',
    'application/json;charset=latin1',
    'application/json; charset=utf-8; charset=utf-16le',
    'application/json; charset="utf-16"x',
    'application/json; charset=ut"f-16',
    'application/json; charset="utf-8',
    'application/json; charset*=utf-16',
    'application/json; charset',
    'application/json-seq',
    'text/json',
  ])('%s → 415 [http.content-type]', async (type) => {
    expect((await send({ 'content-type': type })).status).toBe(415)
  })

  it.each(['gzip', 'br', 'identity, gzip', 'x'])(
    'Content-Encoding %s → 415, and what is taken [http.content-type]',
    async (encoding) => {
      const response = await send({ 'content-encoding': encoding })
      expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity'])
    },
  )

  it('Content-Encoding identity → served [http.content-type]', async () => {
    expect((await send({ 'content-encoding': 'Identity' })).status).toBe(200)
  })
})

describe('/healthz', () => {
  it.each(['/healthz', '/api/mcp/healthz'])('GET %s → JSON [page.health]', async (path) => {
    const response = await fixture().fetch(request(path))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response.json()).toEqual({ status: 'ok' })
  })

  it('any Host, as platforms probe by address: 200; from a page of another origin: 403 [page.health]', async () => {
    const server = fixture({ allowedHosts: ['mcp.example'] })
    const probe = (headers: Record<string, string>) =>
      server.fetch(
        new Request('https://10.0.0.7:3000/healthz', { headers: { host: '10.0.0.7:3000', ...headers } }),
      )
    expect((await probe({})).status).toBe(200)
    expect((await probe({ origin: 'https://evil.example' })).status).toBe(403)
  })

  it('HEAD → the same headers, no body [page.health]', async () => {
    const response = await fixture().fetch(request('/healthz', { method: 'HEAD' }))
    expect([response.status, response.headers.get('content-type'), response.body]).toEqual([
      200,
      'application/json',
      null,
    ])
  })

  it('turned off → 405 [page.off]', async () => {
    expect((await fixture({ health: false }).fetch(request('/healthz'))).status).toBe(405)
  })

  it('runs no user code [page.health]', async () => {
    const setup = vi.fn()
    expect((await createServer({ setup }).fetch(request('/healthz'))).status).toBe(200)
    expect(setup).not.toHaveBeenCalled()
  })
})
