/** An `auth` that answers paths of its own beside the endpoint, on every way to the server. */
import { createServer as createHttp, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mcp } from '../../../adapters/hono.ts'
import { lambda } from '../../../adapters/lambda.ts'
import { createSessions, nodeListener, startHTTP } from '../../../adapters/node.ts'
import { type Auth, anyOf, bearer, createGate, honoAuth, type ServeContext } from '../../../src/auth.ts'
import { fromNode } from '../../../src/from-node.ts'
import {
  type AuditEntry,
  createMemoryRateLimiter,
  createTool,
  type FetchServer,
  type LogEntry,
  type MCPServerConfig,
  type RequestPlatform,
} from '../../../src/index.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { createServer, deferred, modernRequest } from '../_client.ts'
import { createV2 } from '../sdk/_servers.ts'

const look = createTool({ id: 'look', execute: () => 'looked' })

const ORIGIN = 'https://mcp.example'
const FORM = 'application/x-www-form-urlencoded'
const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/** Says what it received; `answer` replaces that. */
function withPaths(answer?: (request: Request, context: ServeContext) => Promise<Response>): Auth {
  const gate = bearer((token) => (token === 'good' ? { clientId: 'ann' } : undefined))
  const echo = async (
    request: Request,
    { env, address, location, server }: ServeContext,
  ): Promise<Response> =>
    Response.json(
      {
        ...{ method: request.method, path: new URL(request.url).pathname, body: await request.text() },
        ...{ env, address, server, resource: location().resource, name: location().name },
      },
      {
        headers: [
          ['set-cookie', 'a=1; Path=/'],
          ['set-cookie', 'b=2; Path=/'],
        ],
      },
    )
  return {
    ...gate,
    serve(request, context) {
      const { pathname } = new URL(request.url)
      const isOwn = ['/oauth/token', '/connections'].some((path) => pathname.endsWith(path))
      if (!isOwn && !pathname.includes(WELL_KNOWN)) return undefined
      return (given) => (answer ?? echo)(given, context)
    },
  }
}

const served = (config: Partial<MCPServerConfig> = {}, auth: Auth = withPaths()) =>
  createServer({ tools: { look }, auth, ...config })

const token = (body = 'grant_type=x', init: RequestInit = {}, url = `${ORIGIN}/oauth/token`) =>
  new Request(url, { method: 'POST', headers: { 'content-type': FORM }, body, ...init })

const sdk = (auth: Auth) => fromSdk((context) => createV2(context), { auth, log: false })
const handler: RequestListener = (_req, res) =>
  void res.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}')

function honoApp(auth: Auth): FetchServer {
  const app = new Hono()
  app.use('*', honoAuth(auth))
  app.all('*', (c) => c.text('the app'))
  return app
}

const WAYS: [string, (auth: Auth) => FetchServer][] = [
  ['an MCPServer', (auth) => served({}, auth)],
  ['beside anyOf', (auth) => served({}, anyOf([bearer(() => undefined), auth]))],
  ['sessions', (auth) => createSessions(served({}, auth))],
  ['fromSdk', sdk],
  ['fromNode', (auth) => fromNode(handler, { auth, mcpPath: '*', log: false })],
  ['fromNode beside other routes', (auth) => fromNode(handler, { auth, mcpPath: '/mcp', log: false })],
  ['honoAuth', honoApp],
  ['mcp of a Hono app', (auth) => new Hono().all('*', mcp(served({}, auth)))],
]

describe.each(WAYS)('%s', (_way, create) => {
  it('answers POST with its body, GET, HEAD and OPTIONS [auth.paths]', async () => {
    const server = create(withPaths())
    const posted = await server.fetch(token())
    expect(await posted.json()).toMatchObject({ method: 'POST', path: '/oauth/token', body: 'grant_type=x' })
    expect(posted.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2; Path=/'])
    expect(posted.headers.get('x-content-type-options')).toBe('nosniff')
    expect(posted.headers.get('cache-control')).toBe('no-store')
    for (const path of ['/connections', `${WELL_KNOWN}/mcp`, WELL_KNOWN])
      expect(await (await server.fetch(new Request(ORIGIN + path))).json()).toMatchObject({
        method: 'GET',
        path,
      })
    const head = await server.fetch(new Request(`${ORIGIN}/connections`, { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const options = new Request(`${ORIGIN}/oauth/token`, { method: 'OPTIONS', headers: preflight })
    expect(await (await server.fetch(options)).json()).toMatchObject({ method: 'OPTIONS' })
  })

  it('asks for no token there, and for one everywhere else [auth.paths]', async () => {
    const server = create(withPaths())
    expect((await server.fetch(token())).status).toBe(200)
    for (const [headers, status] of [
      [{}, 401],
      [{ authorization: 'Bearer good' }, 200],
    ] as const)
      expect((await server.fetch(modernRequest('tools/list', {}, { headers }))).status).toBe(status)
  })

  it('a large body → 413, and it is not answered [auth.paths]', async () => {
    let answers = 0
    const server = create(
      withPaths(async () => {
        answers++
        return new Response()
      }),
    )
    const response = await server.fetch(token('x'.repeat(65_537)))
    expect([response.status, await response.json()]).toEqual([
      413,
      { error: 'invalid_request', error_description: 'too-large' },
    ])
    expect((await server.fetch(token('x'.repeat(65_536)))).status).toBe(200)
    expect(answers).toBe(1)
  })
})

describe('the checks before it', () => {
  it('the host [auth.paths]', async () => {
    const server = served({ http: { allowedHosts: ['other.example'] } })
    expect((await server.fetch(token())).status).toBe(403)
    const response = await served().handle(token(), { loopback: true })
    expect(response.status).toBe(403)
  })

  it('not the origin, and no CORS but its own [auth.paths]', async () => {
    const server = served({ http: { allowedOrigins: [ORIGIN] } })
    const headers = { 'content-type': FORM, origin: 'https://app.example' }
    const response = await server.fetch(token('a=b', { headers }))
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, null])
    expect(
      (await server.fetch(modernRequest('tools/list', {}, { headers: { origin: headers.origin } }))).status,
    ).toBe(403)
  })

  it('the size of the headers [auth.paths]', async () => {
    const server = served({ http: { maxHeaderBytes: 100 } })
    const headers = { 'content-type': FORM, cookie: 'x'.repeat(200) }
    expect((await server.fetch(token('a=b', { headers }))).status).toBe(431)
  })

  it('the rate, by address [auth.paths]', async () => {
    const server = served({ http: { rateLimiter: createMemoryRateLimiter({ calls: 2, windowMs: 60_000 }) } })
    const from = async (clientAddress: string) => {
      const response = await server.handle(token(), { clientAddress })
      return [response.status, response.headers.get('retry-after')]
    }
    await from('203.0.113.1')
    expect(await from('203.0.113.1')).toEqual([200, null])
    expect(await from('203.0.113.1')).toEqual([429, '30'])
    expect(await from('203.0.113.2')).toEqual([200, null])
  })

  it('concurrent calls, until the answer has ended [auth.paths]', async () => {
    const { promise, resolve } = deferred<Response>()
    const server = served(
      { http: { maxConcurrentCalls: 1 } },
      withPaths(() => promise),
    )
    const first = server.fetch(token())
    await new Promise((done) => setTimeout(done, 20))
    expect((await server.fetch(token())).status).toBe(503)
    resolve(new Response('done'))
    expect(await (await first).text()).toBe('done')
    expect((await server.fetch(token())).status).not.toBe(503)
  })
})

describe('an answer', () => {
  it('that never comes ends before the platform does [auth.paths]', async () => {
    const errors: unknown[] = []
    const server = served(
      { onError: (error) => void errors.push(error) },
      withPaths(() => new Promise(() => {})),
    )
    const response = await server.handle(token(), { deadline: Date.now() + 300 })
    expect([response.status, response.headers.get('retry-after')]).toEqual([504, '5'])
    expect(await response.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'Try again later.',
    })
    expect(errors).toEqual([expect.objectContaining({ name: 'TimeoutError' })])
  })

  it('that fails → 500, and the error is only logged [auth.paths]', async () => {
    const errors: unknown[] = []
    const failing = withPaths(async () => {
      throw new Error('the table of secret-host is missing')
    })
    const response = await served({ onError: (error) => void errors.push(error) }, failing).fetch(token())
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: 'server_error', error_description: 'Internal error' },
    ])
    expect(errors).toEqual([expect.objectContaining({ message: 'the table of secret-host is missing' })])
  })

  it('keeps its own headers, and may be a redirect [auth.paths]', async () => {
    const kept = withPaths(
      async () => new Response('{}', { headers: { 'cache-control': 'public, max-age=300' } }),
    )
    const response = await served({}, kept).fetch(new Request(ORIGIN + WELL_KNOWN))
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const away = withPaths(async () => Response.redirect('https://app.example/cb?code=1'))
    const redirect = await served({}, away).fetch(new Request(`${ORIGIN}/connections`))
    expect([redirect.status, redirect.headers.get('location')]).toEqual([
      302,
      'https://app.example/cb?code=1',
    ])
    expect(redirect.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  })

  it('is in the log without its query, and a POST in the audit trail [auth.paths]', async () => {
    const lines: LogEntry[] = []
    const entries: AuditEntry[] = []
    const server = served({
      log: (entry) => void lines.push(entry),
      audit: { record: (entry) => void entries.push(entry) },
    })
    await server.fetch(new Request(`${ORIGIN}/connections?code=secret`))
    await server.fetch(token())
    expect(lines).toHaveLength(2)
    expect(JSON.stringify(lines)).not.toContain('secret')
    expect(entries).toEqual([expect.objectContaining({ status: 200, outcome: 'done' })])
  })
})

describe('a platform', () => {
  it('tells the address, the variables and the prefix [auth.paths]', async () => {
    const platform: RequestPlatform = {
      env: { A: '1' },
      prefix: '/functions/v1/shop',
      clientAddress: '203.0.113.1',
      vouchesForHost: true,
    }
    const request = token('a=b', {}, `${ORIGIN}/functions/v1/shop/oauth/token`)
    expect(await (await served().handle(request, platform)).json()).toMatchObject({
      path: '/functions/v1/shop/oauth/token',
      env: { A: '1' },
      address: '203.0.113.1',
      server: 'test',
      resource: `${ORIGIN}/functions/v1/shop/oauth/token`,
      name: 'Test',
    })
  })

  it.each(['stateless', 'sessions'])('Node, %s [auth.paths]', async (how) => {
    const server = served()
    const url = await listen(nodeListener(how === 'sessions' ? createSessions(server) : server))
    const response = await fetch(token('a=b', {}, `${url}/oauth/token`))
    expect(await response.json()).toMatchObject({ method: 'POST', body: 'a=b' })
    expect(response.headers.getSetCookie()).toHaveLength(2)
    expect((await fetch(token('x'.repeat(70_000), {}, `${url}/oauth/token`))).status).toBe(413)
    expect((await fetch(`${url}${WELL_KNOWN}`)).status).toBe(200)
  })

  it('startHTTP, which serves one path and these [auth.paths]', async () => {
    const server = served()
    const url = await listen((req, res) => void startHTTP({ server, httpPath: '/mcp', req, res }))
    expect((await fetch(token('a=b', {}, `${url}/oauth/token`))).status).toBe(200)
    expect((await fetch(`${url}/other`)).status).toBe(404)
  })

  it('Lambda behind a stage, with an encoded form and cookies [auth.paths]', async () => {
    const handle = lambda(served())
    const result = await handle(
      {
        version: '2.0',
        rawPath: '/beta/oauth/token',
        rawQueryString: '',
        headers: { host: 'a1b2c3.execute-api.eu-central-1.amazonaws.com', 'content-type': FORM },
        requestContext: {
          apiId: 'a1b2c3',
          domainName: 'a1b2c3.execute-api.eu-central-1.amazonaws.com',
          http: { method: 'POST', path: '/beta/oauth/token', sourceIp: '198.51.100.7' },
          stage: 'beta',
        },
        body: btoa('a=b'),
        isBase64Encoded: true,
      } as never,
      { getRemainingTimeInMillis: () => 10_000 } as never,
    )
    expect(result).toMatchObject({ statusCode: 200, cookies: ['a=1; Path=/', 'b=2; Path=/'] })
    expect(JSON.parse(result.body!)).toMatchObject({ body: 'a=b', address: '198.51.100.7' })
  })
})

it('the issuers of the metadata may depend on the location [auth.paths]', async () => {
  const auth = createGate({
    verify: async () => undefined,
    authorizationServers: ({ resource }) => [new URL(resource).origin],
  })
  const request = new Request('https://shop.example/.well-known/oauth-protected-resource/mcp')
  for (const either of [auth, anyOf([auth])])
    expect(await (await served({}, either).fetch(request)).json()).toMatchObject({
      authorization_servers: ['https://shop.example'],
    })
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createHttp(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
