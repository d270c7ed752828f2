/** With `auth`, `fromNode` says which path is guarded, and MCP reaches no other route of the app. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import { type FromNodeOptions, fromNode } from '../../../src/from-node.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { eventually } from '../../_eventually.ts'
import { legacyRequest } from '../_client.ts'

type AppRequest = IncomingMessage & { readonly body?: unknown }

/** Lists and `ping` need no token. */
const auth = bearer((token) => ({ clientId: token, scopes: [] }), { anonymous: { tools: ['hours'] } })

/** An app with a route that does something. What reached which route is in `seen`. */
function createShop(options: FromNodeOptions, endpoint = '/mcp') {
  const seen: [string, unknown][] = []
  const server = fromNode(
    async (request: AppRequest, response: ServerResponse) => {
      const { pathname } = new URL(`http://localhost${request.url}`)
      seen.push([
        `${request.method} ${request.url}`,
        request.body ?? (await json(request).catch(() => 'none')),
      ])
      if (pathname !== endpoint && options.mcpPath !== '*')
        return response.writeHead(pathname === '/' || pathname === '/mpc' ? 404 : 200).end('done')
      const { id } = request.body as { id: unknown }
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    },
    { log: false, onError: () => {}, ...options },
  )
  const post = (path: string, message: object, headers: HeadersInit = {}): Promise<Response> =>
    server.handle(
      new Request(`https://shop.example${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', ...message }),
      }),
      {},
    )
  return { server, seen, post }
}

describe('auth without mcpPath', () => {
  it.each([auth, 'host' as const])('→ TypeError that says what to write', (given) => {
    expect(() => fromNode(() => {}, { auth: given })).toThrow(TypeError)
    expect(() => fromNode(() => {}, { auth: given })).toThrow(/"mcpPath".*"\/mcp".*"\*"/)
  })

  it('"*" guards every path of a handler that serves nothing but MCP', async () => {
    const { post, seen } = createShop({ auth, mcpPath: '*' })
    const call = { method: 'tools/call', params: { name: 'refund' } }

    expect(
      await Promise.all(['/', '/mcp', '/x'].map(async (path) => (await post(path, call)).status)),
    ).toEqual([401, 401, 401])
    expect(seen).toEqual([])
    expect((await post('/x', call, { authorization: 'Bearer ann' })).status).toBe(200)
  })

  it('without auth it is not needed', () => {
    expect(() => fromNode(() => {})).not.toThrow()
    expect(() => fromNode(() => {}, { mcpPath: '*' })).not.toThrow()
  })
})

describe('a ping of a stranger', () => {
  it.each([
    '/mcp',
    '/MCP/',
    '//mcp',
    '/%6dcp?a=1',
    '/mcp;a',
    '/orders/..%2fmcp',
    '/orders/..%5cmcp',
    '/orders/%252e%252e/mcp',
    '/m%09cp',
    '/%0Dm%0acp',
    '/%09/mcp',
    '/%256%09dcp',
    '/%ef%bd%8dcp',
    '/%ef%bc%8fmcp',
    '/%ef%bc%856dcp',
  ])('for %s, a spelling of the endpoint, reaches the one path', async (path) => {
    const { post, seen } = createShop({ auth, mcpPath: '/mcp' })

    expect((await post(path, {})).status).toBe(200)
    expect(seen.map(([route]) => route.replace(/\?.*/, ''))).toEqual(['POST /mcp'])
  })

  it.each([
    '/mcp/refund',
    '/mcp-refund',
    '/mcp.json',
    '/mcp/..%2frefund',
    '//evil.example/mcp',
    '/mcp%00',
    '/%',
    `/${'%25'.repeat(10)}6dcp`,
  ])('for %s, which only begins like it, reaches nothing', async (path) => {
    const { post, seen } = createShop({ auth, mcpPath: '/mcp' })

    expect((await post(path, {})).status).toBe(404)
    expect((await post(path, {}, { authorization: 'Bearer ann' })).status).toBe(404)
    expect(seen).toEqual([])
  })

  it('with any letter that Unicode takes for one of the endpoint, reaches no handler that normalizes paths', async () => {
    const { post, seen } = createShop({ auth, mcpPath: '/mcp' })
    const call = { method: 'tools/call', params: { name: 'refund' } }
    const statuses: number[] = []
    for (let code = 128; code < 0x20000; code++) {
      const letter = String.fromCodePoint(code)
      const meant = letter.normalize('NFKC').toLowerCase()
      const place = '/mcp'.indexOf(meant)
      if (place < 0) continue
      // A path begins with a plain slash.
      const path = `${'/mcp'.slice(0, place || 1)}${encodeURIComponent(letter)}${'/mcp'.slice(place + meant.length)}`
      statuses.push((await post(path, call)).status)
    }
    expect(statuses.length).toBeGreaterThan(50)
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect(seen).toEqual([])
  })

  it('with any character anywhere in the path, reaches no handler that takes it for the endpoint', async () => {
    const parse = (path: string) => new URL(path, 'http://localhost').pathname
    /** What handlers do with a path before they compare it. */
    const readings = [parse, decodeURIComponent, (path: string) => parse(decodeURIComponent(path))].flatMap(
      (read) => [read, (path: string) => read(read(path)), (path: string) => decodeURIComponent(read(path))],
    )
    const takesForEndpoint = (path: string) =>
      readings.some((read) => {
        try {
          return read(path).replace(/\/$/, '') === '/mcp'
        } catch {
          return false
        }
      })
    const seen: string[] = []
    const server = fromNode(
      ({ url }: IncomingMessage, response: ServerResponse) => {
        if (takesForEndpoint(url!)) seen.push(url!)
        response.writeHead(404).end()
      },
      { log: false, onError: () => {}, auth, mcpPath: '/mcp' },
    )
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'refund' } }
    let spellings = 0
    for (let code = 0; code < 128; code++) {
      const escaped = `%${code.toString(16).padStart(2, '0')}`
      for (const inserted of [escaped, `%25${escaped.slice(1)}`]) {
        for (const place of [1, 2, 4]) {
          const path = `${'/mcp'.slice(0, place)}${inserted}${'/mcp'.slice(place)}`
          if (!takesForEndpoint(path)) continue
          spellings++
          const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
          await server.handle(
            new Request(`https://shop.example${path}`, { ...init, body: JSON.stringify(message) }),
            {},
          )
        }
      }
    }
    expect(spellings).toBeGreaterThan(10)
    expect(seen).toEqual([])
  })

  it('the prefix of a platform stays out of it, and the query stays', async () => {
    const { server, seen } = createShop({ auth, mcpPath: '/api/mcp' }, '/api/mcp')
    const { method, headers, body } = legacyRequest('ping')
    const init = { method, headers, body, duplex: 'half' } as RequestInit
    const request = new Request('https://shop.example/prod/API/mcp?shop=1', init)

    expect((await server.handle(request, { prefix: '/prod' })).status).toBe(200)
    expect(seen.map(([route]) => route)).toEqual(['POST /api/mcp?shop=1'])
  })

  it('the page asks at the one path', async () => {
    const { server, seen } = createShop({ mcpPath: '/api/mcp' }, '/api/mcp')
    await server.fetch(new Request('https://shop.example/api/mcp', { headers: { accept: 'text/html' } }))

    expect(new Set(seen.map(([route]) => route))).toEqual(new Set(['POST /api/mcp']))
  })
})

describe('members outside JSON-RPC', () => {
  const more = { amount: 100, result: { a: 1 }, error: { code: 1 }, __proto: 1, _method: 'DELETE' }
  const bearerOf = { authorization: 'Bearer ann' }

  it.each([
    ['a request', { ...more }, { jsonrpc: '2.0', id: 1, method: 'ping' }],
    [
      'a request with params',
      { params: { _meta: {} }, ...more },
      { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: {} } },
    ],
    [
      'a notification',
      { id: undefined, method: 'notifications/initialized', ...more },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ],
    [
      'a result',
      { method: undefined, result: { b: 1 }, amount: 1 },
      { jsonrpc: '2.0', id: 1, result: { b: 1 } },
    ],
    [
      'an error',
      { id: undefined, method: undefined, error: { code: 1, message: '' }, params: {} },
      { jsonrpc: '2.0', error: { code: 1, message: '' } },
    ],
  ])('of %s do not reach the handler, and none is added', async (_what, message, heard) => {
    const { post, seen } = createShop({ auth, mcpPath: '/mcp' })
    await post('/mcp', message, bearerOf)

    expect(seen).toStrictEqual([['POST /mcp', heard]])
  })

  it('do not reach the server of an SDK', async () => {
    const bodies: unknown[] = []
    const server = fromSdk(
      async ({ requestInfo }) => {
        bodies.push(await requestInfo!.clone().json())
        return undefined as never
      },
      { log: false, onError: () => {} },
    )
    const headers = { 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', amount: 100 })
    await server.fetch(new Request('https://shop.example/mcp', { method: 'POST', headers, body }))

    expect(bodies).toEqual([{ jsonrpc: '2.0', id: 1, method: 'ping' }])
  })
})

describe('a wrong mcpPath', () => {
  it('where the app has no route is told once, and each client gets the status', async () => {
    const onError = vi.fn()
    const { post } = createShop({ mcpPath: '/mpc', onError })

    for (const _time of [1, 2]) {
      const response = await post('/mpc', {})
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { id: 1, error: { code: -32603 } },
      ])
    }
    await eventually(() => expect(onError).toHaveBeenCalled())
    expect(onError.mock.calls.map(([error]) => String(error))).toEqual([
      expect.stringMatching(/no MCP endpoint at "mcpPath" \(\/mpc\).*404/),
    ])
  })

  it('a 404 of JSON, as Fastify sends it, too; one of JSON-RPC is an answer', async () => {
    const onError = vi.fn()
    const answers = [
      { statusCode: 404 },
      { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'No session' } },
    ]
    const server = fromNode(
      (_request: AppRequest, response: ServerResponse) =>
        response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(answers.shift())),
      { log: false, onError, mcpPath: '/mcp' },
    )
    const ask = async () => (await (await server.fetch(legacyRequest('ping'))).json()) as { error: object }

    expect((await ask()).error).toMatchObject({ code: -32603 })
    expect((await ask()).error).toMatchObject({ code: -32001 })
    await eventually(() => expect(onError).toHaveBeenCalledOnce())
  })

  it('that leaves the real endpoint open is told once, when a client of MCP uses it', async () => {
    const onError = vi.fn()
    const server = fromNode(
      (_request: AppRequest, response: ServerResponse) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"jsonrpc":"2.0","id":1,"result":{}}'),
      { log: false, onError, auth, mcpPath: '/mpc' },
    )
    const page = new Request('https://shop.example/page', { method: 'POST', body: '{}' })
    await server.fetch(page)
    expect(onError).not.toHaveBeenCalled()
    await server.fetch(legacyRequest('ping'))
    await server.fetch(legacyRequest('ping'))

    expect(onError.mock.calls.map(([error]) => String(error))).toEqual([
      expect.stringMatching(/answered MCP at \/mcp, which is not "mcpPath" \(\/mpc\).*"auth"/),
    ])
  })
})

it('with mcpPath, the store of API keys stays known to `mayfly keys`', () => {
  const keyStore = () => 'the store'
  const withKeys = Object.assign(Object.create(auth), { keyStore }) as typeof auth

  expect(fromNode(() => {}, { auth: withKeys, mcpPath: '/mcp' }).keyStore?.({})).toBe('the store')
})
