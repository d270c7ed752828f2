/** `mayfly-mcp/hono`: a server as a route of a Hono app. On the runtimes themselves: test/runtimes/hono.test.ts. */
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { secureHeaders } from 'hono/secure-headers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { honoContext, METADATA_ROUTE, mcp, metadataRoute } from '../../adapters/hono.ts'
import { lambda } from '../../adapters/lambda.ts'
import { createSessions } from '../../adapters/node.ts'
import { bearer, honoAuth, staticTokens } from '../../src/auth.ts'
import { createTool, MCPServer } from '../../src/index.ts'
import { createMemoryTasks, createTaskEndpoint } from '../../src/tasks.ts'
import { connect } from '../../src/testing.ts'
import { escapedErrors, failing, printsLikeNode, VALUES } from './_thrown.ts'

interface AppEnv {
  Bindings: { GREETING: string }
  Variables: { tenant: string; user: { clientId: string; scopes: string[] } | undefined }
}

const tools = {
  who: createTool({ id: 'who', execute: (_input, ctx) => ctx.auth?.clientId ?? 'nobody' }),
  admin: createTool({ id: 'admin', scopes: ['admin'], execute: () => 'secret' }),
  tenant: createTool({ id: 'tenant', execute: (_input, ctx) => honoContext<AppEnv>(ctx).var.tenant }),
  greeting: createTool({ id: 'greeting', execute: (_input, ctx) => String(ctx.env.GREETING) }),
}
const create = (more: object = {}): MCPServer =>
  new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', log: false, auth: 'host', tools, ...more })

const TOKEN = 'a-token-of-the-tests-0123456789'
const tokens = staticTokens([{ token: TOKEN, clientId: 'ada', scopes: ['admin'] }])

const call = (name: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
})
const textOf = async (response: Response): Promise<string> => {
  const { result, error } = (await response.json()) as {
    result?: { content: { text: string }[] }
    error?: { message: string }
  }
  return result?.content[0]?.text ?? error!.message
}

afterEach(() => vi.unstubAllEnvs())
const escaped = escapedErrors()

describe('in an app', () => {
  it.each(['modern', 'legacy'] as const)('an official client of the %s era calls a tool', async (era) => {
    const app = new Hono().all('/mcp', mcp(create()))
    await using client = await connect(app, { era })

    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'nobody' }] })
  })

  it('below a base path, the page shows the URL of clients', async () => {
    const app = new Hono().basePath('/api').all('/mcp', mcp(create()))

    const page = await (
      await app.request('https://shop.example/api/mcp', { headers: { accept: 'text/html' } })
    ).text()

    expect(page).toContain('https://shop.example/api/mcp')
  })

  it('variables and bindings of the app are readable in a tool', async () => {
    const app = new Hono<AppEnv>()
    app.use(async (c, next) => {
      c.set('tenant', c.req.header('x-tenant') ?? 'none')
      await next()
    })
    app.all('/mcp', mcp(create()))

    const request = call('tenant', { 'x-tenant': 'acme' })
    expect(await textOf(await app.request('/mcp', request))).toBe('acme')
    expect(await textOf(await app.request('/mcp', call('greeting'), { GREETING: 'Ahoy' }))).toBe('Ahoy')
  })

  it('setup finds the context by its request', async () => {
    const server = create({
      setup: (one: { tool(name: string): { disable(): void } }, request: Request) => {
        if (honoContext<AppEnv>(request).var.tenant !== 'acme') one.tool('who').disable()
      },
    })
    const app = new Hono<AppEnv>()
    app.use(async (c, next) => {
      c.set('tenant', c.req.header('x-tenant') ?? 'none')
      await next()
    })
    app.all('/mcp', mcp(server))

    expect(await textOf(await app.request('/mcp', call('who', { 'x-tenant': 'acme' })))).toBe('nobody')
    expect(await textOf(await app.request('/mcp', call('who')))).not.toBe('nobody')
  })

  it.each(['modern', 'legacy'] as const)(
    'with sessions, tools of %s clients have the context of their request',
    async (era) => {
      const sessions = createSessions(create())
      const app = new Hono<AppEnv>()
      app.use(async (c, next) => {
        c.set('tenant', c.req.header('x-tenant') ?? 'none')
        await next()
      })
      app.all('/mcp', mcp(sessions))
      await using client = await connect(app, { era, headers: { 'x-tenant': era } })

      expect(await client.callTool({ name: 'tenant' })).toMatchObject({ content: [{ text: era }] })
      await sessions.close()
    },
  )

  it('env may be a promise', async () => {
    const app = new Hono().all('/mcp', mcp(create(), { env: async () => ({ GREETING: 'Ahoy' }) }))

    expect(await textOf(await app.request('/mcp', call('greeting')))).toBe('Ahoy')
  })

  it('honoContext outside of an app → TypeError that says what to do', async () => {
    await expect(create().executeTool('tenant', {})).rejects.toThrow('mount the server with mcp(server)')
  })

  it('on Node, variables of the process are the environment, and bindings go over them', async () => {
    vi.stubEnv('GREETING', 'Hello')
    const app = new Hono().all('/mcp', mcp(create()))

    expect(await textOf(await app.request('/mcp', call('greeting')))).toBe('Hello')
    expect(await textOf(await app.request('/mcp', call('greeting'), { OTHER: '1' }))).toBe('Hello')
    expect(await textOf(await app.request('/mcp', call('greeting'), { GREETING: 'Ahoy' }))).toBe('Ahoy')
    const own = new Hono().all('/mcp', mcp(create(), { env: () => ({ GREETING: 'Own' }) }))
    expect(await textOf(await own.request('/mcp', call('greeting')))).toBe('Own')
  })

  it('waitUntil is that of the execution context', async () => {
    const waited: Promise<unknown>[] = []
    const later = createTool({
      id: 'later',
      execute: (_input, ctx) => {
        ctx.waitUntil(Promise.resolve())
        return 'soon'
      },
    })
    const app = new Hono().all('/mcp', mcp(create({ tools: { later } })))
    const context = {
      waitUntil: (work: Promise<unknown>) => void waited.push(work),
      passThroughOnException() {},
      props: {},
    }

    await app.request('/mcp', call('later'), {}, context)

    expect(waited).toHaveLength(1)
  })

  it('a body that a middleware has read is read again', async () => {
    const app = new Hono()
    let seen: unknown
    app.use(async (c, next) => {
      seen = ((await c.req.json()) as { method: string }).method
      await next()
    })
    app.all('/mcp', mcp(create()))

    expect(await textOf(await app.request('/mcp', call('who')))).toBe('nobody')
    expect(seen).toBe('tools/call')
  })
})

describe('auth', () => {
  const app = new Hono<AppEnv>()
  app.use(async (c, next) => {
    const name = c.req.header('x-user')
    c.set(
      'user',
      name === undefined ? undefined : { clientId: name, scopes: name === 'ada' ? ['admin'] : [] },
    )
    await next()
  })
  app.all('/mcp', mcp(create(), { auth: (c) => c.get('user') }))

  it('what an earlier middleware has authenticated is ctx.auth, with its scopes', async () => {
    expect(await textOf(await app.request('/mcp', call('who', { 'x-user': 'ada' })))).toBe('ada')
    expect(await textOf(await app.request('/mcp', call('admin', { 'x-user': 'ada' })))).toBe('secret')
    expect(await textOf(await app.request('/mcp', call('admin', { 'x-user': 'bob' })))).not.toContain(
      'secret',
    )
  })

  it('nobody is a caller without scopes', async () => {
    expect(await textOf(await app.request('/mcp', call('who')))).toBe('nobody')
    expect(await textOf(await app.request('/mcp', call('admin')))).not.toContain('secret')
  })

  it.each([1, new Date(1), Math.floor(Date.now() / 1000) - 1])(
    'one whose expiresAt is %s → 401',
    async (expiresAt) => {
      const expired = () => ({ clientId: 'ada', scopes: ['admin'], expiresAt })
      const old = new Hono().all('/mcp', mcp(create(), { auth: expired }))

      const response = await old.request('/mcp', call('admin'))

      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
      expect(await response.text()).toContain('The token has expired.')
    },
  )

  it('what is no identity → 500 of the app, and no call', async () => {
    const wrong = new Hono().all('/mcp', mcp(create(), { auth: () => ({ name: 'ada' }) }))
    const errors: unknown[] = []
    wrong.onError((error, c) => {
      errors.push(error)
      return c.text('wrong', 500)
    })

    expect((await wrong.request('/mcp', call('who'))).status).toBe(500)
    expect(String(errors[0])).toContain('return { token, clientId, scopes }')
  })

  it.each(['auth', 'env'].flatMap((option) => Object.keys(VALUES).map((what) => [option, what] as const)))(
    '%s may throw %s, or reject with it → 500 of the app',
    async (option, what) => {
      printsLikeNode()
      for (const how of ['throws', 'rejects'] as const) {
        const app = new Hono().all('/mcp', mcp(create(), { [option]: failing(VALUES[what]!, how) }))
        expect((await app.request('/mcp', call('who'))).status).toBe(500)
      }
      expect(escaped).toEqual([])
    },
  )

  it('is not called if the server has its own, nor for what everybody may see', async () => {
    const auth = vi.fn(() => {
      throw new HTTPException(401, { message: 'of the app' })
    })
    const guarded = new Hono().all('*', mcp(create({ auth: tokens }), { auth }))
    const open = new Hono().all('*', mcp(create(), { auth }))
    const preflight = { method: 'OPTIONS', headers: { origin: 'http://localhost' } }

    const own = await guarded.request('/mcp', call('who', { authorization: `Bearer ${TOKEN}` }))
    expect(await textOf(own)).toBe('ada')
    for (const app of [guarded, open]) {
      expect((await app.request('/mcp', preflight)).status).toBe(204)
      expect((await app.request('/mcp/healthz')).status).toBe(200)
    }
    expect((await guarded.request('/.well-known/oauth-protected-resource/mcp')).status).toBe(200)
    expect(auth).not.toHaveBeenCalled()
    const refused = await open.request('/mcp', call('who'))
    expect([refused.status, await refused.text()]).toEqual([401, 'of the app'])
  })

  it('honoAuth beside it: its caller is ctx.auth', async () => {
    const guarded = new Hono<{ Variables: { auth: { clientId: string } | undefined } }>()
    guarded.use('/mcp', honoAuth(tokens))
    guarded.all('/mcp', mcp(create(), { auth: (c) => c.get('auth') }))

    expect((await guarded.request('/mcp', call('who'))).status).toBe(401)
    const authorization = `Bearer ${TOKEN}`
    expect(await textOf(await guarded.request('/mcp', call('admin', { authorization })))).toBe('secret')
  })
})

describe('OAuth metadata', () => {
  const refusedBy = async (app: Hono, url: string): Promise<Response> => {
    const response = await app.request(url, call('who'))
    expect(response.status).toBe(401)
    const [, metadata] =
      /resource_metadata="([^"]+)"/.exec(response.headers.get('www-authenticate') ?? '') ?? []
    return app.request(metadata!)
  }

  it.each<[string, Hono, string, { basePath?: string }]>([
    ['at the root', new Hono(), '/mcp', {}],
    ['in an app that has other routes', new Hono(), '/tools/mcp', {}],
    ['in an app that gets only one path', new Hono().basePath('/api'), '/api/mcp', { basePath: '/api' }],
  ])('%s: the challenge names a URL that the app serves', async (_where, app, path, options) => {
    const server = create({ auth: tokens, http: { allowedHosts: ['shop.example'] } })
    const own = path.slice((options.basePath ?? '').length)
    app.all(own, mcp(server, options)).get(METADATA_ROUTE, mcp(server, options))

    const response = await refusedBy(app as Hono, `https://shop.example${path}`)

    expect(await response.json()).toMatchObject({ resource: `https://shop.example${path}` })
  })

  it('there is none below the endpoint, also where the route takes in what is below it', async () => {
    const app = new Hono().all('/mcp/*', mcp(create({ auth: tokens })))

    expect((await app.request('/mcp/.well-known/oauth-protected-resource')).status).toBe(404)
  })

  it('each of two servers has its own metadata', async () => {
    const servers = ['/a', '/b'] as const
    const app = new Hono()
    for (const path of servers) {
      const server = create({ auth: tokens, name: `of ${path}`, http: { allowedHosts: ['shop.example'] } })
      app.all(path, mcp(server)).get(metadataRoute(path), mcp(server))
    }

    for (const path of servers) {
      const response = await refusedBy(app, `https://shop.example${path}`)
      expect(await response.json()).toMatchObject({
        resource: `https://shop.example${path}`,
        resource_name: `of ${path}`,
      })
    }
  })

  it('behind an adapter with a prefix, routes are without it, and the challenge is with it', async () => {
    const server = create({ auth: tokens, http: { allowedHosts: ['shop.example'] } })
    const app = new Hono().all('/mcp', mcp(server)).get(METADATA_ROUTE, mcp(server))
    const handler = lambda(app)
    const event = (method: string, path: string, body?: string) => ({
      httpMethod: method,
      path,
      headers: { host: 'shop.example', 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
      requestContext: { stage: 'prod', path: `/prod${path}`, domainName: 'shop.example', httpMethod: method },
      body: body ?? null,
      isBase64Encoded: false,
    })
    const context = { getRemainingTimeInMillis: () => 10_000, awsRequestId: '1' }
    const refused = (await handler(event('POST', '/mcp', call('who').body) as never, context as never)) as {
      statusCode: number
      multiValueHeaders: Readonly<Record<string, readonly string[]>>
    }
    expect(refused.statusCode).toBe(401)
    expect(refused.multiValueHeaders['www-authenticate']?.[0]).toContain(
      'resource_metadata="https://shop.example/prod/.well-known/oauth-protected-resource/mcp"',
    )
    const found = (await handler(
      event('GET', '/.well-known/oauth-protected-resource/mcp') as never,
      context as never,
    )) as { body: string }
    expect(JSON.parse(found.body)).toMatchObject({ resource: 'https://shop.example/prod/mcp' })
  })
})

describe('headers', () => {
  const origin = 'https://app.example'

  it('cors() and secureHeaders() in front: no header twice', async () => {
    const app = new Hono()
    app.use(cors({ origin, credentials: true }), secureHeaders())
    app.all('/mcp', mcp(create()))

    const { status, headers } = await app.request('https://shop.example/mcp', call('who', { origin }))

    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('access-control-expose-headers')).toContain('mcp-session-id')
  })

  it('a preflight is answered by cors(), with the headers of MCP', async () => {
    const app = new Hono()
    app.use(cors({ origin }))
    app.all('/mcp', mcp(create(), { cors: 'app' }))

    const { status, headers } = await app.request('/mcp', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-method',
      },
    })

    expect([status, headers.get('access-control-allow-headers')]).toEqual([204, 'mcp-method'])
  })

  it("cors: 'app' → only the origins of cors() may read", async () => {
    const app = new Hono()
    app.use(cors({ origin }))
    app.all('/mcp', mcp(create(), { cors: 'app' }))

    const allowed = await app.request('https://shop.example/mcp', call('who', { origin }))
    const other = await app.request(
      'https://shop.example/mcp',
      call('who', { origin: 'https://evil.example' }),
    )

    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
    expect([allowed.status, other.status]).toEqual([200, 200])
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe("errors: 'app'", () => {
  const throwing = bearer(() => {
    throw new Error('the database is gone')
  })

  it.each([
    ['a refusal', tokens, 401],
    ['a server error', throwing, 500],
  ])('%s is thrown, and without onError answered as it would be', async (_what, auth, status) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const app = new Hono().all('/mcp', mcp(create({ auth }), { errors: 'app' }))
    const authorization = 'Bearer another-token-of-the-tests-01234'
    const plain = await app.request('/mcp', call('who', { authorization }))
    expect(plain.status).toBe(status)

    let seen: Error | undefined
    app.onError((error, c) => {
      seen = error
      return c.json({ own: true }, 418)
    })
    const own = await app.request('/mcp', call('who', { authorization }))

    expect([own.status, await own.json()]).toEqual([418, { own: true }])
    expect(seen).toBeInstanceOf(HTTPException)
    expect((seen as HTTPException).getResponse().status).toBe(status)
    vi.restoreAllMocks()
  })
})

describe('tasks', () => {
  const secret = 'a-cron-secret-of-the-tests-0123456789'
  const authorization = `Bearer ${secret}`

  it('mount and fetch of an endpoint run what is due', async () => {
    const server = create({ tasks: createMemoryTasks() })
    const endpoint = createTaskEndpoint({ server, secret })
    const mounted = mcp(endpoint.mount('/tasks'))
    const app = new Hono().all('/mcp', mounted).all('/tasks', mounted).all('/api/run', mcp(endpoint))

    for (const path of ['/tasks', '/api/run']) {
      expect((await app.request(path)).status).toBe(401)
      expect(await (await app.request(path, { headers: { authorization } })).json()).toEqual({ run: 0 })
    }
    expect(await textOf(await app.request('/mcp', call('who')))).toBe('nobody')
  })
})

describe('mistakes', () => {
  it.each([
    [{ atuh: () => undefined }, 'mcp has no option "atuh": did you mean "auth"?'],
    [{ auth: 'user' }, '"auth" of mcp must be a function'],
    [{ basePath: 'api/' }, '"basePath" of mcp must be a path such as "/api"'],
    [{ cors: true }, '"cors" of mcp must be one of "server", "app", not true.'],
  ])('%j → TypeError', (options, message) => {
    expect(() => mcp(create(), options as object)).toThrow(message)
  })

  it('no server → TypeError', () => {
    expect(() => mcp(undefined as never)).toThrow('mcp takes a server')
  })
})
