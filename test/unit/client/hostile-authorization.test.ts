/** Servers that lead those who sign in astray, and what of the client's they get to see. */
import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createMemoryOAuthStorage,
  createOAuthProvider,
  type MCPClientError,
  type OAuthStorage,
} from '../../../src/client.ts'
import { type Astray, collector, told, wantingToken } from '../../hostile/server/authorization.ts'
import type { HostileServer } from '../../hostile/server/server.ts'
import { createOwnProvider, REDIRECT_URL } from './_own-provider.ts'
import { createClient } from './_servers.ts'

async function start<Server extends HostileServer>(starting: Promise<Server>): Promise<Server> {
  const server = await starting
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** A user's desk with the secrets that a client has. */
function openDesk(urls: { readonly [name: string]: string }, storage = createMemoryOAuthStorage()) {
  const redirects: URL[] = []
  const reported: MCPClientError[] = []
  const onRedirect = (url: URL) => redirects.push(url)
  const authProvider = createOAuthProvider({ storage, redirectUrl: REDIRECT_URL, onRedirect })
  const client = createClient({
    id: crypto.randomUUID(),
    timeoutMs: 5000,
    servers: Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [
        name,
        {
          url,
          authProvider,
          headers: { 'x-gateway-key': 'secret-key', authorization: 'Bearer secret-static' },
          requestInit: { headers: { 'x-tenant': 'secret-tenant' } },
        },
      ]),
    ),
    onError: (error) => reported.push(error),
  })
  return { client, redirects, reported, storage }
}

/** What a user who agrees comes back with. */
const agreed = (redirect: URL, code = 'code') =>
  new URLSearchParams({ code, state: redirect.searchParams.get('state') ?? '' })

describe('headers', () => {
  it('go to the server’s own origin, and to none that its 401 or its metadata name', async () => {
    const elsewhere = await start(collector())
    const other = await start(wantingToken())
    for (const astray of [
      { metadataUrl: `${elsewhere.origin}/metadata` },
      { issuer: elsewhere.origin },
      { issuer: other.origin },
      { endpoints: { registration_endpoint: `${elsewhere.origin}/register` } },
    ] satisfies Astray[]) {
      const server = await start(wantingToken(astray))
      const { client } = openDesk({ evil: server.url })

      await client.listTools()

      expect(client.errors.evil).toBeDefined()
      const own = server.seen.filter(({ path }) => path === '/mcp')
      expect(own[0]!.headers).toMatchObject({
        'x-gateway-key': 'secret-key',
        'x-tenant': 'secret-tenant',
        authorization: 'Bearer secret-static',
      })
    }

    expect(elsewhere.seen.length).toBeGreaterThan(2)
    expect(other.seen.length).toBeGreaterThan(1)
    expect(told(elsewhere)).not.toContain('secret')
    expect(told(other)).not.toContain('secret')
  })

  it('nor when the sign-in is finished', async () => {
    const elsewhere = await start(wantingToken())
    const server = await start(
      wantingToken({ endpoints: { token_endpoint: `${elsewhere.origin}/token` }, accepts: () => true }),
    )
    const { client, redirects } = openDesk({ evil: `${server.url}#x` })
    await client.listTools()
    expect(redirects).toEqual([])
    const refusing = await start(wantingToken({ endpoints: { token_endpoint: `${elsewhere.origin}/token` } }))
    const desk = openDesk({ evil: refusing.url })
    await desk.client.listTools()

    await desk.client.finishAuth('evil', agreed(desk.redirects[0]!))

    expect(elsewhere.seen.map(({ path }) => path)).toEqual(['/token'])
    expect(told(elsewhere)).not.toContain('secret')
  })
})

describe('a token', () => {
  it('goes to the server that it was issued for alone, in one storage under one prefix', async () => {
    const storage = createMemoryOAuthStorage()
    const bank = await start(wantingToken({ accepts: (token) => token.startsWith('token-of-') }))
    const { client, redirects } = openDesk({ bank: bank.url }, storage)
    await client.listTools()
    await client.finishAuth('bank', agreed(redirects[0]!))
    expect(Object.keys(await client.listTools())).toEqual(['bank_hello'])
    const evil = await start(
      wantingToken({ issuer: bank.origin, accepts: (token) => token.startsWith('token-of-') }),
    )

    const other = openDesk({ evil: evil.url, beside: `${bank.url}/other` }, storage)
    await other.client.listTools()

    expect(Object.keys(other.client.errors)).toEqual(['evil', 'beside'])
    expect(told(evil)).not.toContain('token-of-')
    const beside = bank.seen.filter(({ path }) => path === '/mcp/other')
    expect(JSON.stringify(beside)).not.toContain('token-of-')
    // Nor is the registration of the one used for the others.
    expect(bank.seen.filter(({ path }) => path === '/register')).toHaveLength(3)
    // And the one is still signed in.
    expect(Object.keys(await openDesk({ bank: bank.url }, storage).client.listTools())).toEqual([
      'bank_hello',
    ])
  })

  it('is refreshed at the authorization server that issued it alone', async () => {
    const storage = new Map<string, string>()
    const thief = await start(wantingToken())
    const astray: { issuer?: string } = {}
    const server = await start(wantingToken(astray))
    const { client, redirects } = openDesk({ evil: server.url }, storage)
    await client.listTools()
    await client.finishAuth('evil', agreed(redirects[0]!))
    for (const [key, value] of storage) {
      if (key.endsWith(':tokens')) storage.set(key, value.replace('{', '{"refresh_token":"secret-refresh",'))
    }
    astray.issuer = thief.origin

    await client.listTools()

    expect(thief.seen.length).toBeGreaterThan(0)
    expect(told(thief)).not.toContain('secret')
  })

  it('a client secret goes to its issuer alone', async () => {
    const thief = await start(wantingToken())
    const options = {
      storage: createMemoryOAuthStorage(),
      redirectUrl: REDIRECT_URL,
      onRedirect: (url: URL) => redirects.push(url),
    }
    const redirects: URL[] = []
    const clientInformation = { client_id: 'desk', client_secret: 'secret-of-client' }
    expect(() => createOAuthProvider({ ...options, clientInformation })).toThrow('issuer')
    const issuer = 'https://login.example'
    const authProvider = createOAuthProvider({
      ...options,
      clientInformation: { ...clientInformation, issuer },
    })
    const client = createClient({ servers: { evil: { url: thief.url, authProvider } }, onError: () => {} })

    await client.listTools()

    expect(client.errors.evil).toBeDefined()
    expect(redirects).toEqual([])
    expect(told(thief)).not.toContain('secret')
  })
})

describe('a user', () => {
  it.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'vscode://x/y',
    'http://login.example/authorize',
    'https://login.example@evil.example/authorize',
    'ftp://login.example/',
  ])('is not sent to sign in at %s', async (authorization_endpoint) => {
    const server = await start(wantingToken({ endpoints: { authorization_endpoint } }))
    const { client, redirects } = openDesk({ evil: server.url })
    const own: URL[] = []
    const ofUser = createOwnProvider(own, {})
    const other = createClient({
      id: 'own',
      servers: { evil: { url: server.url, authProvider: ofUser } },
      onError: () => {},
    })

    await client.listTools()
    await other.listTools()

    expect(redirects).toEqual([])
    expect(own).toEqual([])
    expect(client.errors.evil?.code).toMatch(/^(UNAUTHORIZED|CONNECTION_FAILED)$/)
  })

  it('is sent to https, and to http on this machine', async () => {
    for (const authorization_endpoint of [
      'https://login.example/authorize',
      'http://localhost:1/authorize',
      'http://[::1]:1/authorize',
    ]) {
      const server = await start(wantingToken({ endpoints: { authorization_endpoint } }))
      const { client, redirects } = openDesk({ evil: server.url })

      await client.listTools()

      expect(redirects.map(({ origin }) => origin)).toEqual([new URL(authorization_endpoint).origin])
    }
  })

  it('signs in however often a server asks in the meantime, and it cannot fill the storage', async () => {
    const storage = new Map<string, string>()
    const server = await start(
      wantingToken({ scope: (count) => `scope${count}`, accepts: (token) => token.startsWith('token-of-') }),
    )
    const { client, redirects } = openDesk({ evil: server.url }, storage)
    for (let count = 0; count < 20; count++) await client.listTools()

    // The codes of the others' messages say why.
    expect(redirects.length).toBe(8)
    expect(client.errors.evil).toMatchObject({
      code: 'UNAUTHORIZED',
      message: expect.stringContaining('pending'),
    })
    expect(storage.size).toBeLessThan(12)
    await client.finishAuth('evil', agreed(redirects[0]!))
    expect(Object.keys(await client.listTools())).toEqual(['evil_hello'])
  })

  it('those that are finished at the same moment keep no others from beginning', async () => {
    const values = new Map<string, string>()
    const latency = () => new Promise((resolve) => setTimeout(resolve, 10))
    const storage: OAuthStorage = {
      get: (key) => latency().then(() => values.get(key)),
      set: (key, value) => latency().then(() => values.set(key, value)),
      delete: (key) => latency().then(() => values.delete(key)),
    }
    const server = await start(wantingToken({ scope: (count) => `scope${count}` }))
    const { client, redirects } = openDesk({ evil: server.url }, storage)
    for (let count = 0; count < 8; count++) await client.listTools()
    expect(redirects.length).toBe(8)
    await Promise.all(redirects.map((redirect) => client.finishAuth('evil', agreed(redirect))))

    // Each token is refused.
    for (let count = 0; count < 8; count++) await client.listTools()

    expect(redirects.length).toBe(16)
  })
})

describe('where the metadata lead', () => {
  const LEADS = [
    'http://login.example',
    'http://127.0.0.1:1',
    'https://localhost',
    'https://169.254.169.254',
    'http://169.254.169.254',
    'https://10.0.0.1',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://metadata.google.internal',
    'https://vault',
  ]

  /** A server at a public address, in this process; everything else that is asked is noted. */
  function openPublic(document: (origin: string) => object, challenge: string) {
    const asked: string[] = []
    const origin = 'https://evil.example'
    const fetch = async (input: string | URL) => {
      const url = new URL(input)
      if (url.origin !== origin) {
        asked.push(url.origin)
        throw new TypeError('unreachable')
      }
      if (url.pathname === '/mcp')
        return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } })
      return Response.json(document(origin))
    }
    const authProvider = createOAuthProvider({
      storage: createMemoryOAuthStorage(),
      redirectUrl: REDIRECT_URL,
      onRedirect: (url) => asked.push(`redirect to ${url}`),
    })
    const client = createClient({
      id: crypto.randomUUID(),
      servers: { evil: { url: `${origin}/mcp`, fetch, authProvider } },
      onError: () => {},
    })
    return { client, asked }
  }

  it.each(LEADS)('%s is not asked for what it knows of a token', async (lead) => {
    const resource = 'https://evil.example/mcp'
    const byChallenge = openPublic(() => ({}), `Bearer resource_metadata="${lead}/metadata"`)
    const byIssuer = openPublic(() => ({ resource, authorization_servers: [lead] }), 'Bearer')
    const byEndpoint = openPublic(
      (origin) => ({
        resource,
        authorization_servers: [origin],
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${lead}/token`,
        registration_endpoint: `${lead}/register`,
        response_types_supported: ['code'],
      }),
      'Bearer',
    )

    for (const { client, asked } of [byChallenge, byIssuer, byEndpoint]) {
      await client.listTools()

      expect(client.errors.evil).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(asked).toEqual([])
    }
  })

  it('an authorization server that is silent keeps no connection for ever', async () => {
    let open = 0
    const silent = createServer((_request, response) => {
      open++
      response.once('close', () => open--)
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const { port } = silent.address() as { port: number }
    const server = await start(wantingToken({ issuer: `http://127.0.0.1:${port}` }))
    const authProvider = createOAuthProvider({
      storage: createMemoryOAuthStorage(),
      redirectUrl: REDIRECT_URL,
      onRedirect: () => {},
    })
    const client = createClient({
      servers: { evil: { url: server.url, authProvider, timeoutMs: 400 } },
      onError: () => {},
    })

    await client.listTools()

    expect(client.errors.evil).toBeDefined()
    await expect.poll(() => open).toBe(0)
  })
})
