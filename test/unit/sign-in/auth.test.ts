/** Sign-in as `auth` of a server: its metadata, its calls, and the provider's token in a tool. */
import { inspect } from 'node:util'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { anyOf, type HonoAuthVariables, honoAuth, staticTokens } from '../../../src/auth.ts'
import { createTool } from '../../../src/index.ts'
import { createMemoryGrants, type SignInOptions, signIn } from '../../../src/sign-in.ts'
import { callTool, createServer, modern, namesIn } from '../_client.ts'
import { connected, createWorld, fakeUpstream, LOOPBACK, RESOURCE, SECRET, type World } from './_sign-in.ts'

const scopes = { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' }

function withServer(options: Partial<SignInOptions> = {}) {
  const store = createMemoryGrants()
  const upstream = fakeUpstream()
  const world = createWorld({ store, upstream })
  const auth = signIn({ upstream, store, scopes, secrets: [SECRET], ...options })
  const who = createTool({
    id: 'who',
    execute: async (_input, { auth }) => {
      const text = JSON.stringify({ caller: auth, person: auth?.subject })
      return `${text} ${await auth?.upstreamToken?.()}`
    },
  })
  const write = createTool({ id: 'write', scopes: ['notes:write'], execute: () => 'written' })
  const server = createServer({ auth, tools: { who, write }, http: { publicUrl: RESOURCE } })
  const call = (tool: string, token?: string) =>
    callTool(server, tool, {}, { url: RESOURCE, headers: { authorization: token && `Bearer ${token}` } })
  /** The same, through the whole server. */
  const through: World = {
    ...world,
    send: (request) => server.handle(request, {}),
    get: (path, headers = {}) => server.handle(new Request(new URL(path, RESOURCE), { headers }), {}),
    form: (path, fields, headers = {}) =>
      server.handle(
        new Request(new URL(path, RESOURCE), {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams(fields).toString(),
        }),
        {},
      ),
    register: async () =>
      server.handle(
        new Request(new URL('/oauth/register', RESOURCE), {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: 'https://inspector.example' },
          body: JSON.stringify({ redirect_uris: [LOOPBACK], token_endpoint_auth_method: 'none' }),
        }),
        {},
      ),
  }
  return { world, through, server, call, auth }
}

it('all of it goes through the server, from the registration by a website to a call', async () => {
  const { through, call } = withServer()
  const { tokens } = await connected(through)
  expect(JSON.stringify((await call('who', tokens.access_token)).result)).toContain('anna@example.com')
  const facts = await through.get('/.well-known/oauth-authorization-server', {
    origin: 'https://inspector.example',
  })
  expect(facts.headers.get('access-control-allow-origin')).toBe('*')
  expect(await facts.json()).toMatchObject({ issuer: 'https://mcp.example.com' })
  const page = await through.get('/connections')
  expect(page.status).toBe(303)
  const evil = await through.form(
    '/oauth/authorize',
    { decision: 'approve' },
    { origin: 'https://evil.example' },
  )
  expect(evil.status).toBe(403)
})

it('works without http.publicUrl where the platform names the host', async () => {
  const { auth } = withServer()
  const server = createServer({ auth, http: { allowedHosts: ['notes.example'] } })
  const facts = await server.handle(
    new Request('https://notes.example/.well-known/oauth-authorization-server'),
    {},
  )
  expect(await facts.json()).toMatchObject({
    issuer: 'https://notes.example',
    protected_resources: ['https://notes.example/mcp'],
  })
})

describe('below a prefix of the platform, where no other path reaches the server', () => {
  const prefix = '/functions/v1/notes'
  const found = async (http: object) => {
    const { auth } = withServer()
    const server = createServer({ auth, http })
    const at = (path: string) =>
      server.handle(new Request(`https://notes.example${prefix}${path}`), { prefix, vouchesForHost: true })
    return { facts: await at('/.well-known/openid-configuration'), away: await at('/connections'), at }
  }

  it.each([
    ['by the platform', {}, `https://notes.example${prefix}`],
    ['behind a domain of its own', { publicUrl: 'https://mcp.example/base/mcp' }, 'https://mcp.example/base'],
    ['behind a domain without a path', { publicUrl: 'https://mcp.example/mcp' }, 'https://mcp.example'],
  ])(
    'named %s → its paths are there, and its metadata where clients ask for it',
    async (_how, http, issuer) => {
      const { facts, away, at } = await found(http)
      expect(away.status).toBe(303)
      expect(away.headers.get('location')).toContain(encodeURIComponent(`${issuer}/oauth/callback`))
      // A client asks at an issuer without a path for nothing below the prefix.
      const { pathname } = new URL(issuer)
      const metadata = pathname === '/' ? await at('/.well-known/oauth-authorization-server') : facts
      expect(await metadata.json()).toMatchObject({ issuer, token_endpoint: `${issuer}/oauth/token` })
    },
  )

  it('what OpenID requires is there for clients that check it, with an empty set of keys', async () => {
    const { facts, at } = await found({})
    expect(facts.headers.get('access-control-allow-origin')).toBe('*')
    const { jwks_uri, ...others } = (await facts.json()) as { [member: string]: unknown }
    expect(others).toMatchObject({
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [],
      response_types_supported: ['code'],
    })
    expect(jwks_uri).toBe(`https://notes.example${prefix}/oauth/jwks`)
    expect(await (await at('/oauth/jwks')).json()).toEqual({ keys: [] })
  })

  it('without a prefix, OpenID’s URL is not taken: its metadata is found before', async () => {
    const { auth } = withServer()
    const server = createServer({ auth, http: { allowedHosts: ['notes.example'] } })
    const url = 'https://notes.example/.well-known/openid-configuration'
    expect((await server.handle(new Request(url), {})).status).toBe(404)
  })
})

it('signs people in beside API keys', async () => {
  const { auth, through, world } = withServer()
  const both = anyOf([auth, staticTokens([{ token: 'a-token-of-thirty-two-characters', clientId: 'robot' }])])
  const who = createTool({ id: 'who', execute: (_input, { auth }) => `I am ${auth?.clientId}` })
  const server = createServer({ auth: both, tools: { who }, http: { publicUrl: RESOURCE } })
  const { tokens, clientId } = await connected({ ...through, context: world.context })
  for (const [token, name] of [
    [tokens.access_token, clientId],
    ['a-token-of-thirty-two-characters', 'robot'],
  ]) {
    const answer = await callTool(
      server,
      'who',
      {},
      { url: RESOURCE, headers: { authorization: `Bearer ${token}` } },
    )
    expect(JSON.stringify(answer.result)).toContain(`I am ${name}`)
  }
  const facts = await server.handle(
    new Request('https://mcp.example.com/.well-known/oauth-authorization-server'),
    {},
  )
  expect(facts.status).toBe(200)
})

it('a tool knows the person, the client and the token of the provider', async () => {
  const { world, call } = withServer()
  const { tokens, clientId } = await connected(world)
  const { result } = await call('who', tokens.access_token)
  const text = JSON.stringify(result)
  for (const part of [clientId, 'anna@example.com', 'example.com', 'upstream-access-of-anna'])
    expect(text).toContain(part)
  expect(text.indexOf('upstream-access')).toBeGreaterThan(text.indexOf('caller'))
})

it('without a token, and with one that is not of this server → 401 with where the metadata is', async () => {
  const { call } = withServer()
  for (const token of [undefined, 'mk_x', 'a:b:c', `${'x'.repeat(32)}:${'x'.repeat(16)}:${'x'.repeat(32)}`]) {
    const { status, headers } = await call('who', token)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp')
  }
})

it('a scope that the person did not give → refused with the scope that is needed', async () => {
  const { world, call } = withServer()
  const { tokens } = await connected(world)
  expect((await call('write', tokens.access_token)).headers.get('www-authenticate')).toContain('notes:write')
  const { tokens: more } = await connected(world, { query: { scope: 'notes:write' } })
  expect(JSON.stringify((await call('write', more.access_token)).result)).toContain('written')
})

it('the metadata names the server itself as the one that signs people in, and the scopes', async () => {
  const { server } = withServer()
  const response = await server.handle(
    new Request('https://mcp.example.com/.well-known/oauth-protected-resource/mcp'),
    {},
  )
  expect(await response.json()).toMatchObject({
    resource: RESOURCE,
    authorization_servers: ['https://mcp.example.com'],
    scopes_supported: ['notes:read', 'notes:write'],
  })
})

describe('what a first sign-in asks for', () => {
  const challengeOf = async (options: Partial<SignInOptions>, tool = 'who') => {
    const { call, server } = withServer(options)
    const found = new Request('https://mcp.example.com/.well-known/oauth-protected-resource/mcp')
    const { scopes_supported: supported } = (await (await server.handle(found, {})).json()) as {
      scopes_supported: string[]
    }
    const header = (await call(tool)).headers.get('www-authenticate') ?? ''
    return { asked: /scope="([^"]*)"/.exec(header)?.[1], supported }
  }
  const namesOf = async (server: ReturnType<typeof createServer>, token: string) => {
    const options = { url: RESOURCE, headers: { authorization: `Bearer ${token}` } }
    return namesIn(await modern(server, 'tools/list', {}, options)).sort()
  }
  const listed = async (options: Partial<SignInOptions>, scope: string | undefined) => {
    const { through, server } = withServer(options)
    const { tokens } = await connected(through, { query: { scope } })
    return namesOf(server, tokens.access_token)
  }

  it.each([
    [{}, 'notes:read notes:write', ['who', 'write']],
    [{ required: ['notes:read'] }, 'notes:read notes:write', ['who', 'write']],
    [{ initialScopes: ['notes:read'] }, 'notes:read', ['who']],
    [{ required: ['notes:read'], initialScopes: ['notes:read'] }, 'notes:read', ['who']],
    [
      { required: ['notes:read'], initialScopes: ['notes:write'] },
      'notes:read notes:write',
      ['who', 'write'],
    ],
    [{ required: ['notes:read'], initialScopes: [] }, 'notes:read', ['who']],
  ] as const)('%j → %s in the 401 and the metadata, and the tools %j', async (options, scope, tools) => {
    const { asked, supported } = await challengeOf(options)
    expect(asked).toBe(scope)
    expect(supported).toEqual(scope.split(' '))
    expect(await listed(options, asked)).toEqual(tools)
  })

  it('a client that names no scope gets the same', async () => {
    expect(await listed({ initialScopes: ['notes:read'] }, undefined)).toEqual(['who'])
    expect(await listed({}, undefined)).toEqual(['who', 'write'])
  })

  it('a call of a tool with another scope → 403 that names it, and with it the tool is listed', async () => {
    const options = { required: ['notes:read'], initialScopes: ['notes:read'] }
    const { through, call, server } = withServer(options)
    const { tokens } = await connected(through, { query: { scope: 'notes:read' } })
    const refusal = await call('write', tokens.access_token)
    expect(refusal.status).toBe(403)
    const challenge = refusal.headers.get('www-authenticate')
    expect(challenge).toContain('scope="notes:read notes:write"')
    const { tokens: more } = await connected(through, { query: { scope: 'notes:read notes:write' } })
    expect(await namesOf(server, more.access_token)).toContain('write')
  })

  it.each([
    [{ initialScopes: ['other'] }, '"initialScopes" of signIn has "other", which "scopes" does not have.'],
    [{ initialScopes: [] }, '"initialScopes" of signIn is empty'],
  ])('%j → TypeError', (options, message) => {
    expect(() => withServer(options)).toThrow(message)
  })
})

describe('serve', () => {
  const contextOf = (resource: string, isVouchedFor = true) => ({
    env: {},
    location: () => ({ resource, isVouchedFor, metadataUrl: '' }),
    report: () => {},
  })
  const ask = (url: string, resource: string, isVouchedFor = true) => {
    const request = new Request(url)
    return withServer().auth.serve(request, contextOf(resource, isVouchedFor))?.(request)
  }

  it.each([
    [
      'https://a.example/mcp',
      'https://a.example',
      'https://a.example/.well-known/oauth-authorization-server',
    ],
    ['https://a.example/', 'https://a.example', 'https://a.example/.well-known/oauth-authorization-server'],
    [
      'https://a.example/x/mcp',
      'https://a.example/x',
      'https://a.example/.well-known/oauth-authorization-server/x',
    ],
    [
      'https://a.example/x/mcp',
      'https://a.example/x',
      'https://a.example/x/.well-known/oauth-authorization-server',
    ],
    [
      'https://a.example/x/mcp',
      'https://a.example/x',
      'https://a.example/.well-known/oauth-authorization-server',
    ],
  ])('the server at %s is the issuer %s at %s', async (resource, issuer, url) => {
    const response = await ask(url, resource)
    expect(await response?.json()).toMatchObject({ issuer, token_endpoint: `${issuer}/oauth/token` })
  })

  it('finds the endpoint from the location of its own paths', async () => {
    const url = 'https://a.example/x/.well-known/oauth-authorization-server'
    expect(await (await ask(url, url))?.json()).toMatchObject({
      issuer: 'https://a.example/x',
      protected_resources: ['https://a.example/x/mcp'],
    })
  })

  it('answers no other path', async () => {
    for (const path of [
      '/mcp',
      '/',
      '/oauth',
      '/oauth/tokens',
      '/x/y/oauth/token',
      '/.well-known/oauth-protected-resource',
    ])
      expect(ask(`https://a.example${path}`, 'https://a.example/mcp')).toBeUndefined()
  })

  it('a URL that only the caller names → 503, and what to set', async () => {
    const response = await ask('https://a.example/oauth/token', 'https://a.example/mcp', false)
    expect(response?.status).toBe(503)
    expect(await response?.text()).toContain('http.publicUrl')
  })
})

describe('options', () => {
  it('a scope in "required" that is not in "scopes" → TypeError', () => {
    expect(() => withServer({ required: ['other'] })).toThrow('"required" of signIn has "other"')
  })

  it.each([
    [{ secrets: ['short'] }, 'at least 32 characters'],
    [{ secrets: [] }, 'at least one secret'],
    [{ scopes: { 'a b': 'x' } }, 'a word without spaces'],
    [{ scopes: { a: '' } }, 'must be a sentence'],
    [{ store: {} as never }, 'needs a store of grants'],
    [{ upstream: {} as never }, 'must be an identity provider'],
  ])('%j → TypeError with %j', (options, message) => {
    expect(() => withServer(options)).toThrow(message)
  })

  it('a deployment without a secret gets 503, and its operator reads why', async () => {
    const store = { ...createMemoryGrants(), isLocal: false }
    const auth = signIn({ upstream: fakeUpstream(), store, scopes })
    expect(auth.faultIn?.({})).toContain('MAYFLY_SECRET')
    expect(auth.faultIn?.({ MAYFLY_SECRET: SECRET })).toBeUndefined()
    const errors: unknown[] = []
    const request = new Request('https://a.example/oauth/authorize')
    const location = () => ({ resource: 'https://a.example/mcp', isVouchedFor: true, metadataUrl: '' })
    const response = await auth.serve(request, {
      env: {},
      location,
      report: (error) => errors.push(error),
    })?.(request)
    expect(response?.status).toBe(503)
    expect(String(errors[0])).toContain('MAYFLY_SECRET')
  })
})

describe('the token of the provider', () => {
  it('is for code that asks for it: no copy of the caller, no JSON and no line of a log has a way to it', async () => {
    const { world, auth } = withServer()
    const seen: { copies: unknown[]; text: string; token: string | undefined }[] = []
    const look = createTool({
      id: 'look',
      execute: async (_input, { auth: caller }) => {
        const copies = [{ ...caller }, structuredClone(caller), JSON.parse(JSON.stringify(caller))]
        const text = inspect(caller, { depth: 9 }) + JSON.stringify(caller)
        seen.push({ copies, text, token: await caller?.upstreamToken?.() })
        return ''
      },
    })
    const { tokens } = await connected(world)
    for (const given of [auth, anyOf([auth])]) {
      const server = createServer({ auth: given, tools: { look }, http: { publicUrl: RESOURCE } })
      await callTool(
        server,
        'look',
        {},
        { url: RESOURCE, headers: { authorization: `Bearer ${tokens.access_token}` } },
      )
    }
    expect(seen.map(({ token }) => token)).toEqual(['upstream-access-of-anna', 'upstream-access-of-anna'])
    for (const { copies, text } of seen) {
      for (const copy of copies) expect(copy).not.toHaveProperty('upstreamToken')
      expect(text).not.toMatch(/upstream/i)
      expect(copies[1]).toMatchObject({ claims: { hd: 'example.com' }, extra: { name: 'Name of anna' } })
    }
  })

  it('is there for the routes of an app behind honoAuth', async () => {
    const { world, auth } = withServer()
    const { tokens } = await connected(world)
    const app = new Hono<{ Variables: HonoAuthVariables }>()
    app.get('/own', honoAuth(auth, { publicUrl: RESOURCE }), async (c) =>
      c.text(String(await c.get('auth')?.upstreamToken?.())),
    )
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const own = await app.request('https://mcp.example.com/own', { headers })
    expect(await own.text()).toBe('upstream-access-of-anna')
  })

  it('behind honoAuth, registrations are counted by the address that a trusted proxy names', async () => {
    const { auth } = withServer()
    const app = new Hono()
    app.use('*', honoAuth(auth, { publicUrl: RESOURCE, trustProxy: true }))
    const register = async (address: string) => {
      const body = JSON.stringify({ redirect_uris: ['https://app.example/cb'] })
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
      const url = 'https://mcp.example.com/oauth/register'
      const response = await app.request(url, { method: 'POST', headers, body })
      return ((await response.json()) as { client_id: string }).client_id
    }
    const isStored = (id: string) => id.length < 100
    const ids = []
    for (let count = 0; count < 31; count++) ids.push(await register('192.0.2.1'))
    expect(ids.filter(isStored)).toHaveLength(30)
    expect([ids.at(-1)!, await register('198.51.100.1')].map(isStored)).toEqual([false, true])
  })

  it('a caller that did not sign in has none', async () => {
    const seen: unknown[] = []
    const look = createTool({
      id: 'look',
      execute: (_input, { auth }) => void seen.push(auth?.upstreamToken),
    })
    const token = 'a-token-of-thirty-two-characters'
    const server = createServer({ auth: staticTokens([{ token, clientId: 'robot' }]), tools: { look } })
    await callTool(server, 'look', {}, { headers: { authorization: `Bearer ${token}` } })
    expect(seen).toEqual([undefined])
  })
})
