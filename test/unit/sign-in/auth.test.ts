/** Sign-in as `auth` of a server: its metadata, its calls, and the provider's token in a tool. */
import { describe, expect, it } from 'vitest'
import { createTool } from '../../../src/index.ts'
import { createMemoryGrants, type SignInOptions, signIn, upstreamToken } from '../../../src/sign-in.ts'
import { callTool, createServer } from '../_client.ts'
import { connected, createWorld, fakeUpstream, RESOURCE, SECRET } from './_sign-in.ts'

const scopes = { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' }

function withServer(options: Partial<SignInOptions> = {}) {
  const store = createMemoryGrants()
  const upstream = fakeUpstream()
  const world = createWorld({ store, upstream })
  const auth = signIn({ upstream, store, scopes, secrets: [SECRET], ...options })
  const who = createTool({
    id: 'who',
    execute: async (_input, { auth }) => {
      const text = JSON.stringify({ caller: auth?.extra, client: auth?.clientId })
      return `${text} ${await upstreamToken(auth)}`
    },
  })
  const write = createTool({ id: 'write', scopes: ['notes:write'], execute: () => 'written' })
  const server = createServer({ auth, tools: { who, write }, http: { publicUrl: RESOURCE } })
  const call = (tool: string, token?: string) =>
    callTool(server, tool, {}, { url: RESOURCE, headers: { authorization: token && `Bearer ${token}` } })
  return { world, server, call, auth }
}

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

it('a caller that did not sign in has no token of the provider', async () => {
  await expect(upstreamToken(undefined)).rejects.toThrow('signIn')
  await expect(upstreamToken({ token: 't', clientId: 'c', scopes: [] })).rejects.toThrow('signIn')
})
