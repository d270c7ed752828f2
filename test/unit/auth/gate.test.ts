import { describe, expect, it, vi } from 'vitest'
import {
  type BearerOptions,
  bearer,
  createGate,
  type GateOptions,
  InvalidTokenError,
  staticTokens,
  VerifierUnavailableError,
} from '../../../src/auth.ts'
import {
  createMemoryBus,
  createMemoryRateLimiter,
  createPrompt,
  createResource,
  createTool,
  type HttpConfig,
  MCPServer,
  type MCPServerConfig,
  type McpContext,
  type RequestPlatform,
} from '../../../src/index.ts'
import { createTool as createSdkTool, type SdkToolContext } from '../../../src/sdk-context.ts'
import { createServer, legacyRequest, modernRequest, post, readAnswer } from '../_client.ts'
import { discover } from './_issuer.ts'

/** The token is the scopes it has: `a.b`. */
const byScopes = (options: BearerOptions = {}) =>
  bearer(
    (token) => (token === 'bad' ? undefined : { clientId: `client-${token}`, scopes: token.split('.') }),
    { authorizationServers: ['https://login.example'], ...options },
  )

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'

const challengeOf = (response: Response): string => response.headers.get('www-authenticate') ?? ''

function protectedServer(options: BearerOptions = {}, config: Partial<MCPServerConfig> = {}): MCPServer {
  return createServer({ auth: byScopes(options), ...config })
}

describe('who brings no good token', () => {
  it('none → 401, with the way to one [auth.challenge]', async () => {
    const response = await discover(protectedServer({ scopes: ['shop', 'read'] }))
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toBe(`Bearer scope="shop read", resource_metadata="${METADATA}"`)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
  })

  it('a bad one → 401 invalid_token [auth.challenge]', async () => {
    const response = await discover(protectedServer(), 'bad')
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toContain('error="invalid_token"')
  })

  it.each([
    'Basic abc',
    'Bearer',
    'Bearer a b',
    'Bearer a, Bearer b',
    'Bearer "a"',
    'bearer=a',
    `Bearer ${'a'.repeat(20_000)}`,
  ])('Authorization: %.30s → 401 [auth.challenge]', async (authorization) => {
    const server = protectedServer()
    const response = await discover(server, undefined, { headers: { authorization } })
    expect(response.status).toBe(401)
  })

  it('an empty one is none [auth.challenge]', async () => {
    for (const authorization of ['', '  ']) {
      const response = await discover(protectedServer(), undefined, { headers: { authorization } })
      expect([response.status, challengeOf(response)]).toEqual([
        401,
        `Bearer resource_metadata="${METADATA}"`,
      ])
    }
  })

  it('a malformed one is told so [auth.challenge]', async () => {
    const response = await discover(protectedServer(), undefined, { headers: { authorization: 'Basic abc' } })
    expect(challengeOf(response)).toContain(
      'error="invalid_token", error_description="The Authorization header is malformed."',
    )
    expect(await response.text()).toContain('The Authorization header is malformed.')
  })

  it('why it is refused is in the message [auth.challenge]', async () => {
    const messageOf = async (token?: string) =>
      (await readAnswer(await discover(protectedServer({ scopes: ['a', 'b'] }), token))).error?.message
    expect(await messageOf()).toBe('Unauthorized: send an access token as a Bearer token.')
    expect(await messageOf('bad')).toBe('The token is not valid.')
    expect(await messageOf('a')).toBe('Forbidden: this server needs the scopes a b.')
    const one = await readAnswer(await discover(protectedServer({ scopes: ['b'] }), 'a'))
    expect(one.error?.message).toBe('Forbidden: this server needs the scope b.')
  })

  it.each(['YWJj==', 'a=', 'A-Z.a_z~0+9/x:y'])(
    'a token of any such characters, %s, is looked at [auth.challenge]',
    async (token) => {
      expect((await discover(protectedServer(), token)).status).toBe(200)
    },
  )

  it('as many spaces before it as a client likes [auth.challenge]', async () => {
    const headers = { authorization: 'bEARER   good' }
    expect((await discover(protectedServer(), undefined, { headers })).status).toBe(200)
  })

  it('no longer than 16384 characters [auth.challenge]', async () => {
    expect((await discover(protectedServer(), 'a'.repeat(16_384))).status).toBe(200)
    expect((await discover(protectedServer(), 'a'.repeat(16_385))).status).toBe(401)
  })

  it.each(['good', 'good=='])(
    'in a header that the platform sets it comes alone: %j [auth.challenge]',
    async (value) => {
      const seen: string[] = []
      const verify = async (token: string) => {
        seen.push(token)
        return { clientId: 'desk' }
      }
      const server = createServer({
        auth: createGate({ authorizationServers: [], header: 'x-token', verify }),
      })
      const statusOf = async (token: string) =>
        (await discover(server, undefined, { headers: { 'x-token': token } })).status
      expect(await statusOf(value)).toBe(200)
      for (const more of [
        `${value} more`,
        `more ${value}`,
        `${value},${value}`,
        `"${value}"`,
        `Bearer ${value}`,
      ])
        expect(await statusOf(more)).toBe(401)
      expect(seen).toEqual([value])
    },
  )

  it('a token is over at the very moment that it says [auth.challenge]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const expiresAt = Math.floor(Date.now() / 1000) + 60
      const server = createServer({ auth: bearer(() => ({ clientId: 'desk', expiresAt })) })
      vi.setSystemTime(expiresAt * 1000 - 1)
      expect((await discover(server, 'a')).status).toBe(200)
      vi.setSystemTime(expiresAt * 1000)
      expect((await discover(server, 'a')).status).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  it('one in the query string is not looked at [auth.header-only]', async () => {
    const verify = vi.fn(() => ({ clientId: 'a', scopes: [] }))
    const server = createServer({ auth: bearer(verify) })
    const response = await discover(server, undefined, { url: 'https://mcp.example/mcp?access_token=good' })
    expect(response.status).toBe(401)
    expect(verify).not.toHaveBeenCalled()
  })

  it('one anywhere but in the header is not looked at, cookies included [auth.header-only]', async () => {
    const verify = vi.fn(() => ({ clientId: 'a', scopes: [] }))
    const server = createServer({ auth: bearer(verify) })
    const url = 'https://mcp.example/mcp'
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const elsewhere = [
      ...['cookie', 'x-access-token', 'x-api-key', 'proxy-authorization', 'cf-access-jwt-assertion'].map(
        (name) =>
          modernRequest(
            'server/discover',
            {},
            { headers: { [name]: name === 'cookie' ? 'token=good' : 'Bearer good' } },
          ),
      ),
      modernRequest('server/discover', { access_token: 'good' }, { meta: { authorization: 'Bearer good' } }),
      new Request(url, { method: 'POST', headers: form, body: 'access_token=good' }),
    ]
    for (const request of elsewhere) {
      const { status } = await server.fetch(request)
      expect([401, 415]).toContain(status)
    }
    expect(verify).not.toHaveBeenCalled()
  })

  it('the body is not read before [auth.before-body]', async () => {
    const body = new ReadableStream({ pull: () => expect.unreachable('read') }, { highWaterMark: 0 })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' }
    const response = await protectedServer().fetch(new Request('https://mcp.example/mcp', init))
    expect(response.status).toBe(401)
  })

  it('legacy clients get the same [auth.challenge]', async () => {
    const response = await protectedServer().fetch(legacyRequest('initialize'))
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toContain(METADATA)
  })

  it('a token that has expired, whatever its verifier says → 401 [auth.challenge]', async () => {
    const server = createServer({ auth: bearer(() => ({ clientId: 'a', scopes: [], expiresAt: 1 })) })
    const response = await discover(server, 'a')
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toContain(
      'error="invalid_token", error_description="The token has expired."',
    )
  })

  it('a reason is told without what could end the header [auth.challenge]', async () => {
    const verify = () => {
      throw new InvalidTokenError('so"\r\nX-Evil: 1\\ bad')
    }
    const response = await discover(createServer({ auth: bearer(verify) }), 'a')
    expect(challengeOf(response)).toContain('error_description="soX-Evil: 1 bad"')
    expect(response.headers.has('x-evil')).toBe(false)
  })

  it('nobody to ask → 503 with Retry-After, and the cause in the log alone [auth.unavailable]', async () => {
    const onError = vi.fn()
    const verify = () => {
      throw new VerifierUnavailableError('the database at 10.0.0.7 is down')
    }
    const response = await discover(createServer({ auth: bearer(verify), onError }), 'a')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await response.text()).not.toContain('10.0.0.7')
    expect(onError).toHaveBeenCalledOnce()
  })

  it('a verifier that breaks → 500, nobody gets in, nothing is told [auth.unavailable]', async () => {
    const onError = vi.fn()
    const verify = () => {
      throw new Error('secret detail')
    }
    const response = await discover(createServer({ auth: bearer(verify), onError }), 'a')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret detail')
  })
})

describe('metadata (RFC 9728)', () => {
  const get = async (url: string, http: HttpConfig = {}, platform: RequestPlatform = {}, headers = {}) =>
    protectedServer({ scopes: ['shop'] }, { http }).handle(new Request(url, { headers }), platform)

  it.each([
    ['https://mcp.example/.well-known/oauth-protected-resource/mcp', 'https://mcp.example/mcp'],
    ['https://mcp.example/.well-known/oauth-protected-resource/api/x', 'https://mcp.example/api/x'],
    ['https://mcp.example/.well-known/oauth-protected-resource', 'https://mcp.example/mcp'],
  ])('%s → of %s [auth.metadata]', async (url, resource) => {
    const response = await get(url, {}, {}, { origin: 'https://app.example' })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toEqual({
      resource,
      resource_name: 'Test',
      authorization_servers: ['https://login.example'],
      bearer_methods_supported: ['header'],
      scopes_supported: ['shop'],
    })
  })

  it('behind a prefix of the platform both are behind it [auth.metadata]', async () => {
    const prefix = '/functions/v1/shop'
    const challenged = await protectedServer().handle(
      modernRequest('server/discover', {}, { url: `https://mcp.example${prefix}/mcp` }),
      { prefix },
    )
    const url = /resource_metadata="([^"]+)"/.exec(challengeOf(challenged))?.[1] ?? ''
    expect(url).toBe(`https://mcp.example${prefix}/.well-known/oauth-protected-resource/mcp`)
    expect(await (await get(url, {}, { prefix })).json()).toMatchObject({
      resource: `https://mcp.example${prefix}/mcp`,
    })
  })

  it('publicUrl wins, and finds its own prefix [auth.metadata]', async () => {
    const http = { publicUrl: 'https://shop.example/api/mcp' }
    const challenged = await discover(protectedServer({}, { http }))
    expect(challengeOf(challenged)).toContain(
      '"https://shop.example/api/.well-known/oauth-protected-resource/mcp"',
    )
    const inside = await get('http://10.0.0.7/.well-known/oauth-protected-resource/mcp', http)
    expect(await inside.json()).toMatchObject({ resource: 'https://shop.example/api/mcp' })
    expect((await get('http://10.0.0.7/.well-known/oauth-protected-resource/other', http)).status).toBe(404)
  })

  it.each([
    ['/mcp', '/shop/v1/.well-known/oauth-protected-resource/mcp'],
    ['/mcp/', '/shop/v1/.well-known/oauth-protected-resource/mcp'],
    ['/v1/mcp', '/shop/.well-known/oauth-protected-resource/v1/mcp'],
    ['/shop/v1/mcp', '/.well-known/oauth-protected-resource/shop/v1/mcp'],
    ['/', '/.well-known/oauth-protected-resource/shop/v1/mcp'],
    ['/other', '/.well-known/oauth-protected-resource/shop/v1/mcp'],
    ['/xmcp', '/.well-known/oauth-protected-resource/shop/v1/mcp'],
  ])(
    'of publicUrl, for a request that arrives at %s: behind what the proxy took away [auth.metadata]',
    async (path, metadata) => {
      const server = protectedServer({}, { http: { publicUrl: 'https://shop.example/shop/v1/mcp' } })
      const response = await discover(server, undefined, { url: `http://10.0.0.7${path}` })
      expect(challengeOf(response)).toBe(`Bearer resource_metadata="https://shop.example${metadata}"`)
    },
  )

  it('a spoofed X-Forwarded-Host changes nothing unless trustProxy allows it [auth.metadata]', async () => {
    const headers = { 'x-forwarded-host': 'evil.example' }
    expect(await (await get(METADATA, {}, {}, headers)).text()).not.toContain('evil')
    expect(await (await get(METADATA, { trustProxy: true }, {}, headers)).text()).toContain(
      'https://evil.example/mcp',
    )
  })

  it('scopeHints are what clients are told to ask for, and never required [auth.metadata] [auth.challenge]', async () => {
    const options: BearerOptions = {
      scopes: ['shop'],
      scopeHints: ['api://shop-mcp/shop', 'offline_access'],
      resourceName: 'The shop',
    }
    const server = createServer({ auth: bearer(() => ({ clientId: 'desk', scopes: ['shop'] }), options) })
    const refused = await server.fetch(modernRequest('server/discover'))
    const served = await server.fetch(
      modernRequest('server/discover', {}, { headers: { authorization: 'Bearer a' } }),
    )

    expect(refused.headers.get('www-authenticate')).toContain('scope="api://shop-mcp/shop offline_access"')
    expect(served.status).toBe(200)
    expect(await (await server.fetch(new Request(METADATA))).json()).toMatchObject({
      resource_name: 'The shop',
      scopes_supported: ['api://shop-mcp/shop', 'offline_access'],
    })
  })

  it('what is not known is left out, and not said to be none (RFC 9728 §3.2) [auth.metadata]', async () => {
    const metadataOf = async (options: BearerOptions) =>
      (await createServer({ auth: bearer(() => undefined, options) }).fetch(new Request(METADATA))).json()
    const least = {
      resource: 'https://mcp.example/mcp',
      resource_name: 'Test',
      bearer_methods_supported: ['header'],
    }
    expect(await metadataOf({})).toEqual(least)
    expect(await metadataOf({ authorizationServers: [], scopes: [], scopesSupported: [] })).toEqual(least)
    expect(await metadataOf({ scopes: ['shop'], scopesSupported: [] })).toEqual(least)
    expect(
      await metadataOf({
        scopes: ['shop'],
        scopesSupported: ['shop', 'read'],
        authorizationServers: ['https://a.example'],
        documentationUrl: 'https://docs.example',
      }),
    ).toEqual({
      ...least,
      scopes_supported: ['shop', 'read'],
      authorization_servers: ['https://a.example'],
      resource_documentation: 'https://docs.example',
    })
  })

  it('the options’ issuers win over the verifier’s own [auth.metadata]', async () => {
    const verifier = { authorizationServers: ['https://own.example'], verify: async () => undefined }
    const serversOf = async (options: GateOptions) => {
      const server = createServer({ auth: createGate(verifier, options) })
      return ((await (await server.fetch(new Request(METADATA))).json()) as Record<string, unknown>)
        .authorization_servers
    }
    expect(await serversOf({})).toEqual(['https://own.example'])
    expect(await serversOf({ authorizationServers: ['https://other.example'] })).toEqual([
      'https://other.example',
    ])
  })

  it.each(['/api/mcp/', '/api/mcp//'])(
    'a publicUrl that ends with a slash, %s, is found again where we say [auth.metadata]',
    async (path) => {
      const http = { publicUrl: `https://shop.example${path}` }
      const challenged = await discover(protectedServer({}, { http }))
      const url = /resource_metadata="([^"]+)"/.exec(challengeOf(challenged))?.[1] ?? ''
      expect(url).toBe('https://shop.example/api/.well-known/oauth-protected-resource/mcp')
      const inside = await get('http://10.0.0.7/.well-known/oauth-protected-resource/mcp', http)
      expect(await inside.json()).toMatchObject({ resource: http.publicUrl })
    },
  )

  it.each([
    ['https://shop.example/api/mcp', '/mcp', 200],
    ['https://shop.example/api/mcp', '/mcp/', 200],
    ['https://shop.example/api/mcp', '/api/mcp', 200],
    ['https://shop.example/api/mcp', '', 200],
    ['https://shop.example/api/mcp', '/', 200],
    ['https://shop.example/api/mcp', '/cp', 404],
    ['https://shop.example/api/mcp', '/api', 404],
    ['https://shop.example/api/mcp', 'ful', 404],
    ['https://shop.example', '', 200],
    ['https://shop.example', '/mcp', 404],
  ])(
    'of %s, asked for with %j after the well-known path → %i [auth.metadata]',
    async (publicUrl, path, status) => {
      const url = `https://shop.example/.well-known/oauth-protected-resource${path}`
      const response = await get(url, { publicUrl })
      expect(response.status).toBe(status)
      if (status === 200) expect(await response.json()).toMatchObject({ resource: publicUrl })
    },
  )

  it('without publicUrl, of the path that is asked for, slashes at its end left out [auth.metadata]', async () => {
    const resourceOf = async (path: string) => {
      const response = await get(`https://mcp.example/.well-known/oauth-protected-resource${path}`)
      return response.status === 200
        ? ((await response.json()) as { resource: string }).resource
        : response.status
    }
    expect(await resourceOf('/api//')).toBe('https://mcp.example/api')
    expect(await resourceOf('/')).toBe('https://mcp.example/mcp')
    expect(await resourceOf('ful')).toBe(404)
  })

  it('there is none where there is no auth [auth.metadata]', async () => {
    expect((await createServer({}).fetch(new Request(METADATA))).status).toBe(404)
  })
})

describe('scopes', () => {
  const config: Partial<MCPServerConfig> = {
    bus: createMemoryBus(),
    tools: {
      look: createTool({ id: 'look', execute: () => 'looked' }),
      buy: createTool({ id: 'buy', scopes: ['buy'], execute: () => 'bought' }),
      rule: createTool({ id: 'rule', scopes: ['buy', 'admin'], execute: () => 'ruled' }),
    },
    prompts: {
      greet: createPrompt({ get: () => 'hello' }),
      haggle: createPrompt({ scopes: ['buy'], complete: { price: () => ['1'] }, get: () => 'cheaper' }),
    },
    resources: [
      createResource({ uri: 'shop://window', read: () => 'pretty' }),
      createResource({ uri: 'shop://till', scopes: ['admin'], read: () => 'full' }),
      createResource({
        uriTemplate: 'shop://order/{id}',
        scopes: ['buy'],
        read: ({ variables }) => variables.id,
      }),
    ],
  }
  const server = protectedServer({}, config)
  const ask = async (token: string, method: string, params = {}) => {
    const request = modernRequest(method, params, { headers: { authorization: `Bearer ${token}` } })
    return readAnswer(await server.fetch(request))
  }
  const names = async (token: string, method: string, member: string) => {
    const { result = {} } = await ask(token, method)
    return (result[member] as { name: string }[]).map(({ name }) => name)
  }

  it.each([
    ['none', ['look']],
    ['buy', ['look', 'buy']],
    ['admin', ['look']],
    ['buy.admin', ['look', 'buy', 'rule']],
  ])('a token with %s sees the tools %j, and no others [auth.scopes]', async (token, tools) => {
    expect(await names(token, 'tools/list', 'tools')).toEqual(tools)
  })

  it('prompts, resources and templates too [auth.scopes]', async () => {
    expect(await names('none', 'prompts/list', 'prompts')).toEqual(['greet'])
    expect(await names('buy', 'prompts/list', 'prompts')).toEqual(['greet', 'haggle'])
    expect(await names('none', 'resources/list', 'resources')).toEqual(['shop://window'])
    expect(await names('admin', 'resources/list', 'resources')).toEqual(['shop://window', 'shop://till'])
    expect(await names('none', 'resources/templates/list', 'resourceTemplates')).toEqual([])
    expect(await names('buy', 'resources/templates/list', 'resourceTemplates')).toEqual(['shop://order/{id}'])
  })

  it.each<[string, object, string]>([
    ['tools/call', { name: 'rule' }, 'buy admin'],
    ['prompts/get', { name: 'haggle' }, 'buy'],
    ['resources/read', { uri: 'shop://till' }, 'admin'],
    ['resources/read', { uri: 'shop://order/1' }, 'buy'],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'haggle' }, argument: { name: 'price', value: '' } },
      'buy',
    ],
  ])('%s %j without its scopes → 403 that names %s [auth.step-up]', async (method, params, scope) => {
    const { status, headers, error } = await ask('none', method, params)
    expect(status).toBe(403)
    expect(headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${METADATA}"`,
    )
    expect(error?.data).toEqual({ requiredScopes: scope.split(' ') })
  })

  it('what one message of a batch does to ctx.auth opens nothing for the next [auth.scopes]', async () => {
    const rise = createTool({
      id: 'rise',
      execute: (_input, { auth }) => {
        auth!.scopes.push('admin', 'buy')
        return 'risen'
      },
    })
    const tools = { ...config.tools, rise }
    const call = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name },
    })
    const headers = { authorization: 'Bearer none', 'mcp-protocol-version': '2025-03-26' }
    const response = await protectedServer({}, { ...config, tools }).fetch(
      post([call(1, 'rise'), call(2, 'rule')], { headers }),
    )
    const text = await response.text()
    expect(text).toContain('risen')
    expect(text).not.toContain('ruled')
    expect(text).toContain('Forbidden: tool rule needs the scopes buy admin.')
  })

  it('a tool’s 403 names what every call needs, too [auth.step-up]', async () => {
    const tools = { pay: createTool({ id: 'pay', scopes: ['buy', 'shop'], execute: () => 'paid' }) }
    const request = modernRequest(
      'tools/call',
      { name: 'pay' },
      { headers: { authorization: 'Bearer shop' } },
    )
    const response = await protectedServer({ scopes: ['shop'] }, { tools }).fetch(request)
    expect(response.status).toBe(403)
    expect(challengeOf(response)).toContain('scope="shop buy"')
  })

  it('a token may have colons, as Cloudflare’s provider makes them [auth.challenge]', async () => {
    expect((await discover(protectedServer(), 'user:grant:secret')).status).toBe(200)
  })

  it('with them it is served, and the tool knows who calls [auth.context]', async () => {
    const seen = vi.fn((_input: unknown, _ctx: SdkToolContext) => 'ok')
    const tools = { who: createSdkTool({ id: 'who', scopes: ['buy'], execute: seen }) }
    const request = modernRequest('tools/call', { name: 'who' }, { headers: { authorization: 'Bearer buy' } })
    expect((await readAnswer(await protectedServer({}, { tools }).fetch(request))).error).toBeUndefined()
    const auth = { token: 'buy', clientId: 'client-buy', scopes: ['buy'] }
    const ctx = seen.mock.calls[0]![1]
    expect(ctx.auth).toEqual(auth)
    expect(ctx.mcp.extra.authInfo).toEqual(auth)
  })

  it('lists are private [auth.private-lists]', async () => {
    expect((await ask('buy', 'tools/list')).result?.cacheScope).toBe('private')
  })

  it('a subscription hears nothing of what may not be read [auth.scopes]', async () => {
    const notifications = { resourceSubscriptions: ['shop://till', 'shop://window', 'shop://order/7'] }
    const request = modernRequest(
      'subscriptions/listen',
      { notifications },
      { headers: { authorization: 'Bearer none' } },
    )
    const response = await server.fetch(request)
    const { value } = await response.body!.getReader().read()
    const acknowledged = new TextDecoder().decode(value)
    expect(acknowledged).toContain('"resourceSubscriptions":["shop://window"]')
  })

  it('scopes that every call needs → 403 that names them [auth.step-up]', async () => {
    const response = await discover(protectedServer({ scopes: ['shop'] }), 'other')
    expect(response.status).toBe(403)
    expect(challengeOf(response)).toContain('error="insufficient_scope", scope="shop"')
  })

  it('what setup adds for a request is guarded alike [auth.scopes]', async () => {
    const withSetup = protectedServer(
      {},
      {
        ...config,
        setup: (one) => {
          one.registerTool('extra', { scopes: ['admin'] }, () => 'extra')
        },
      },
    )
    const list = async (token: string) => {
      const request = modernRequest('tools/list', {}, { headers: { authorization: `Bearer ${token}` } })
      const { result = {} } = await readAnswer(await withSetup.fetch(request))
      return (result.tools as { name: string }[]).map(({ name }) => name)
    }
    expect([await list('none'), await list('admin')]).toEqual([['look'], ['look', 'extra']])
  })
})

describe('anonymous access to a declared subset', () => {
  const server = protectedServer(
    { anonymous: { tools: ['look'], resources: ['shop://window'] } },
    {
      tools: {
        look: createTool({ id: 'look', execute: (_input, ctx) => String(ctx.auth === undefined) }),
        buy: createTool({ id: 'buy', execute: () => 'bought' }),
      },
      prompts: { greet: createPrompt({ get: () => 'hello' }) },
      resources: [
        createResource({ uri: 'shop://window', read: () => 'pretty' }),
        createResource({ uri: 'shop://till', read: () => 'full' }),
      ],
    },
  )
  const ask = async (method: string, params = {}) =>
    readAnswer(await server.fetch(modernRequest(method, params)))

  it('is listed and served without a token, and nothing else is [auth.anonymous]', async () => {
    expect((await ask('tools/list')).result).toMatchObject({
      tools: [{ name: 'look' }],
      cacheScope: 'private',
    })
    expect((await ask('prompts/list')).result?.prompts).toEqual([])
    expect((await ask('resources/list')).result?.resources).toMatchObject([{ uri: 'shop://window' }])
    expect((await ask('tools/call', { name: 'look' })).result?.content).toMatchObject([{ text: 'true' }])
  })

  it('each kind by its own names [auth.anonymous]', async () => {
    const allows = (options: BearerOptions) => {
      const { anonymous } = byScopes(options)
      expect(anonymous.isAnonymous).toBe(true)
      return (['tool', 'prompt', 'resource'] as const).map((kind) =>
        anonymous.allows({ kind, name: 'x', scopes: undefined }),
      )
    }
    expect(allows({ anonymous: { tools: ['x'] } })).toEqual([true, false, false])
    expect(allows({ anonymous: { prompts: ['x'] } })).toEqual([false, true, false])
    expect(allows({ anonymous: { resources: ['x'] } })).toEqual([false, false, true])
    expect(allows({ anonymous: { tools: ['xx'], prompts: ['x '], resources: ['X'] } })).toEqual([
      false,
      false,
      false,
    ])
    expect(allows({})).toEqual([false, false, false])
    const admission = await byScopes().admit(
      new Request('https://mcp.example/mcp', { headers: { authorization: 'Bearer a' } }),
      {
        env: {},
        location: () => ({ resource: 'https://mcp.example/mcp', isVouchedFor: true, metadataUrl: METADATA }),
      },
    )
    expect(admission).toMatchObject({ ok: true, access: { isAnonymous: false } })
  })

  it.each([
    ['tools/call', { name: 'buy' }],
    ['prompts/get', { name: 'greet' }],
    ['resources/read', { uri: 'shop://till' }],
  ])('%s %j → 401, with the way to a token [auth.anonymous]', async (method, params) => {
    const { status, headers } = await ask(method, params)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain(METADATA)
  })

  it('the way to a token is the same for a closed tool and one that does not exist [auth.anonymous]', async () => {
    const tools = {
      look: createTool({ id: 'look', execute: () => 'looked' }),
      buy: createTool({ id: 'buy', scopes: ['buy', 'shop'], execute: () => 'bought' }),
      list: createTool({ id: 'list', execute: () => 'listed' }),
    }
    const one = protectedServer({ scopes: ['shop', 'read'], anonymous: { tools: ['look'] } }, { tools })
    const challengeFor = async (name: string) =>
      challengeOf(await one.fetch(modernRequest('tools/call', { name })))
    for (const name of ['buy', 'list', 'nothing'])
      expect(await challengeFor(name)).toBe(`Bearer scope="shop read", resource_metadata="${METADATA}"`)
    const { status, message } = await readAnswer(
      await one.fetch(modernRequest('tools/call', { name: 'buy' })),
    )
    expect([status, message?.error?.message]).toEqual([401, 'Unauthorized: tool buy needs an access token.'])
  })

  it('a bad token is not better than none [auth.anonymous]', async () => {
    expect((await discover(server, 'bad')).status).toBe(401)
  })

  it('the page shows nobody what is not for everybody [auth.page]', async () => {
    const request = new Request('https://mcp.example/', { headers: { accept: 'text/html' } })
    const page = await (await server.fetch(request)).text()
    expect(page).toContain('look')
    for (const hidden of ['buy', 'greet', 'shop://till']) expect(page).not.toContain(hidden)
  })
})

describe('static tokens', () => {
  const TOKEN = 'a-token-for-the-first-day'
  const auth = staticTokens([
    { token: TOKEN, clientId: 'ci', scopes: ['deploy'] },
    { token: 'another-token-for-machines' },
  ])

  it('the right one is let in, with what it stands for [auth.static]', async () => {
    const seen = vi.fn((_input: unknown, _ctx: McpContext) => 'ok')
    const server = createServer({ auth, tools: { who: createTool({ id: 'who', execute: seen }) } })
    const request = modernRequest(
      'tools/call',
      { name: 'who' },
      { headers: { authorization: `Bearer ${TOKEN}` } },
    )
    await (await server.fetch(request)).text()
    expect(seen.mock.calls[0]![1].auth).toEqual({ token: TOKEN, clientId: 'ci', scopes: ['deploy'] })
  })

  it.each([`${TOKEN}x`, TOKEN.slice(1), TOKEN.toUpperCase(), 'static'])(
    '%s → 401 [auth.static]',
    async (token) => {
      expect((await discover(createServer({ auth }), token)).status).toBe(401)
    },
  )

  it('may come from the environment [auth.static]', async () => {
    const fromEnv = staticTokens((env: { CI_TOKEN: string }) => [{ token: env.CI_TOKEN }])
    const server = createServer({ auth: fromEnv })
    const request = () =>
      modernRequest('server/discover', {}, { headers: { authorization: `Bearer ${TOKEN}` } })
    expect((await server.handle(request(), { env: { CI_TOKEN: TOKEN } })).status).toBe(200)
    expect((await server.handle(request(), { env: { CI_TOKEN: 'something-else-entirely' } })).status).toBe(
      401,
    )
  })

  it('without a clientId each is another caller; those of one client are one [auth.principal]', async () => {
    const server = createServer({
      auth: staticTokens([
        { token: 'first-token-for-machines' },
        { token: 'second-token-for-machines' },
        { token: 'old-token-of-the-desk', clientId: 'desk' },
        { token: 'new-token-of-the-desk', clientId: 'desk' },
      ]),
      http: { rateLimiter: createMemoryRateLimiter({ calls: 1, windowMs: 60_000 }) },
      tools: { who: createTool({ id: 'who', execute: (_input, ctx) => `${ctx.auth?.clientId}` }) },
    })
    const call = async (token: string) => {
      const request = modernRequest(
        'tools/call',
        { name: 'who' },
        { headers: { authorization: `Bearer ${token}` } },
      )
      const { status, result } = await readAnswer(await server.fetch(request))
      return [status, (result?.content as { text: string }[] | undefined)?.[0]?.text]
    }
    const derived = expect.stringMatching(/^token-[\da-f]{32}$/)
    const first = await call('first-token-for-machines')
    const second = await call('second-token-for-machines')
    expect([first, second]).toEqual([
      [200, derived],
      [200, derived],
    ])
    expect(first).not.toEqual(second)
    expect(await call('first-token-for-machines')).toEqual([429, undefined])
    expect(await call('old-token-of-the-desk')).toEqual([200, 'desk'])
    expect(await call('new-token-of-the-desk')).toEqual([429, undefined])
  })

  it('a short one → TypeError [auth.static]', () => {
    expect(() => staticTokens([{ token: 'short' }])).toThrow(TypeError)
    expect(() => staticTokens({ ann: 'a'.repeat(32) } as never)).toThrow('takes a list')
  })
})

describe('options of the gate', () => {
  it.each<[string, object]>([
    ['scopes', { scopes: 'shop' }],
    ['scopes', { scopes: [''] }],
    ['scopes', { scopes: ['shop read'] }],
    ['scopes', { scopes: ['a"b'] }],
    ['scopes', { scopes: ['a\\b'] }],
    ['scopes', { scopes: ['é'] }],
    ['scopes', { scopes: [undefined] }],
    ['scopeHints', { scopeHints: 'shop' }],
    ['scopeHints', { scopeHints: ['shop read'] }],
    ['resourceName', { resourceName: '' }],
    ['resourceName', { resourceName: 5 }],
    ['scopesSupported', { scopesSupported: 'shop' }],
    ['scopesSupported', { scopesSupported: ['shop', 5] }],
    ['authorizationServers', { authorizationServers: 'https://login.example' }],
    ['authorizationServers', { authorizationServers: ['login.example'] }],
    ['authorizationServers', { authorizationServers: [new URL('https://login.example')] }],
    ['anonymous', { anonymous: true }],
    ['anonymous', { anonymous: ['look'] }],
    ['anonymous', { anonymous: null }],
    // As a text it would open each tool whose name is a part of it.
    ['anonymous.tools', { anonymous: { tools: 'look' } }],
    ['anonymous.prompts', { anonymous: { prompts: {} } }],
    ['anonymous.resources', { anonymous: { resources: [/.*/] } }],
  ])('"%s" of %j → TypeError that names it [auth.options]', (option, options) => {
    const name = new RegExp(`"${option}"`)
    expect(() => bearer(() => undefined, options)).toThrow(TypeError)
    expect(() => bearer(() => undefined, options)).toThrow(name)
  })

  it('undefined is as if it was not there [auth.options]', async () => {
    const options = {
      scopes: undefined,
      scopesSupported: undefined,
      anonymous: undefined,
      authorizationServers: undefined,
    }
    const auth = bearer(() => ({ clientId: 'a' }), options as never)
    expect((await discover(createServer({ auth }), 'a')).status).toBe(200)
    expect((await discover(createServer({ auth }))).status).toBe(401)
    expect(() => bearer(undefined as never)).toThrow(/function/)
  })

  it('an empty subset opens nothing but the lists, which are empty [auth.options]', async () => {
    const server = protectedServer(
      { anonymous: {} },
      { tools: { look: createTool({ id: 'look', execute: () => 1 }) } },
    )
    expect((await readAnswer(await server.fetch(modernRequest('tools/list')))).result?.tools).toEqual([])
    expect((await server.fetch(modernRequest('tools/call', { name: 'look' }))).status).toBe(401)
  })
})

it.each([() => ({}), 'token', {}])('auth: %s → TypeError that says what to pass [auth.static]', (auth) => {
  const config = { id: 'a', name: 'a', version: '1', auth: auth as never }
  expect(() => new MCPServer(config)).toThrow(/mayfly-mcp\/auth/)
})
