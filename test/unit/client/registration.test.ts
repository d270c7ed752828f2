/** Which id a client has at an authorization server, and whether it signs in at one without PKCE. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { jwt } from '../../../src/auth.ts'
import {
  createMemoryOAuthStorage,
  createOAuthProvider,
  type OAuthProviderOptions,
} from '../../../src/client.ts'
import { createTool } from '../../../src/index.ts'
import { type Astray, wantingToken } from '../../hostile/server/authorization.ts'
import { signIn } from '../../runtimes/auth/_browser.ts'
import { startAuthorizationServer } from '../../runtimes/auth/_provider.ts'
import { createOwnProvider, REDIRECT_URL } from './_own-provider.ts'
import { createClient, startMayfly } from './_servers.ts'

const DOCUMENT = 'https://agent.example/client.json'

async function start(endpoints: Astray['endpoints'] = {}) {
  const server = await wantingToken({ endpoints })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Where a client of this configuration sends its user, and its error. */
async function begin(url: string, options: Partial<OAuthProviderOptions> = {}) {
  const redirects: URL[] = []
  const authProvider = createOAuthProvider({
    storage: createMemoryOAuthStorage(),
    redirectUrl: REDIRECT_URL,
    onRedirect: (redirect) => redirects.push(redirect),
    ...options,
  })
  const client = createClient({ servers: { shop: { url, authProvider } }, onError: () => {} })
  await client.listTools()
  return { redirects, clientId: redirects[0]?.searchParams.get('client_id'), error: client.errors.shop }
}

const SUPPORTED = { client_id_metadata_document_supported: true }

describe('the id of a client (MCP 2026-07-28, "Client Registration")', () => {
  it.each([
    ['its metadata document, where the issuer supports one', SUPPORTED, {}, DOCUMENT],
    ['a registration, where it does not', {}, {}, 'registered'],
    [
      'what was registered by hand, before either',
      SUPPORTED,
      { clientInformation: { client_id: 'by-hand' } },
      'by-hand',
    ],
    [
      'its metadata document, where what was registered by hand is for another issuer',
      SUPPORTED,
      { clientInformation: { client_id: 'by-hand', client_secret: 's', issuer: 'https://other.example' } },
      DOCUMENT,
    ],
  ])('is %s', async (_, endpoints, options, expected) => {
    const server = await start(endpoints)
    const { clientId } = await begin(`${server.origin}/mcp`, { clientMetadataUrl: DOCUMENT, ...options })
    expect(clientId).toBe(expected)
    const hasRegistered = JSON.stringify(server.seen).includes('/register')
    expect(hasRegistered).toBe(expected === 'registered')
  })

  it('is a registration without a document', async () => {
    expect((await begin(`${(await start(SUPPORTED)).origin}/mcp`)).clientId).toBe('registered')
  })

  it('is kept if it was registered and is an https URL', async () => {
    const id = 'https://as.example/clients/1'
    const server = await wantingToken({ clientId: id })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const storage = createMemoryOAuthStorage()
    for (let request = 0; request < 3; request++)
      expect((await begin(`${server.origin}/mcp`, { storage })).clientId).toBe(id)
    expect(server.seen.filter((one) => JSON.stringify(one).includes('/register'))).toHaveLength(1)
  })

  it('follows a document that moved', async () => {
    const url = `${(await start(SUPPORTED)).origin}/mcp`
    const storage = createMemoryOAuthStorage()
    await begin(url, { storage, clientMetadataUrl: DOCUMENT })
    const moved = 'https://agent.example/moved.json'
    expect((await begin(url, { storage, clientMetadataUrl: moved })).clientId).toBe(moved)
  })

  it.each(['http://agent.example/client.json', 'https://agent.example', 'client.json'])(
    '%s is no document of a client',
    (clientMetadataUrl) => {
      const storage = createMemoryOAuthStorage()
      expect(() =>
        createOAuthProvider({ storage, redirectUrl: REDIRECT_URL, onRedirect: () => {}, clientMetadataUrl }),
      ).toThrow(/clientMetadataUrl must be an https URL with a path/)
    },
  )
})

it('a user signs in with a metadata document, and nothing is registered', async () => {
  const metadata = {
    client_id: DOCUMENT,
    client_name: 'desk',
    redirect_uris: [REDIRECT_URL],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    scope: 'openid offline_access shop refund',
  }
  const server = await startAuthorizationServer({ [DOCUMENT]: metadata })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const url = await startMayfly({
    auth: jwt({ issuer: server.issuer, audience: 'mcp-shop', scopes: ['shop'] }),
    tools: { who: createTool({ id: 'who', execute: (_input, ctx) => `${ctx.auth?.clientId}` }) },
  })
  const redirects: URL[] = []
  const authProvider = createOAuthProvider({
    storage: createMemoryOAuthStorage(),
    redirectUrl: REDIRECT_URL,
    onRedirect: (redirect) => redirects.push(redirect),
    clientMetadataUrl: DOCUMENT,
  })
  const client = createClient({ servers: { shop: { url, authProvider } }, onError: () => {} })
  await client.listTools()
  await client.finishAuth('shop', (await signIn(redirects[0]!, REDIRECT_URL)).searchParams)

  expect(await client.callTool('shop', 'who')).toMatchObject({ content: [{ text: DOCUMENT }] })
})

describe('PKCE (MCP 2026-07-28, "Authorization Code Protection")', () => {
  it.each([
    ['no method', undefined],
    ['no method, in an empty list', []],
    ['plain alone', ['plain']],
  ])('an issuer that lists %s: no user is sent there', async (_, methods) => {
    const server = await start({ code_challenge_methods_supported: methods })
    const { redirects, error } = await begin(`${server.origin}/mcp`)
    expect(redirects).toEqual([])
    expect(error).toBeDefined()
  })

  it.each<[string, (origin: string) => object]>([
    ['has no discovery', () => ({})],
    [
      'names the authorization server alone',
      (origin) => ({ discoveryState: () => ({ authorizationServerUrl: origin }) }),
    ],
    ['has no discovery yet', () => ({ discoveryState: () => undefined })],
    [
      'keeps its discovery',
      () => {
        let kept: unknown
        const saveDiscoveryState = (state: unknown): void => {
          kept = state
        }
        return { discoveryState: () => kept, saveDiscoveryState }
      },
    ],
  ])('listed with S256: a provider of one’s own that %s signs in', async (_what, discovery) => {
    const server = await start()
    const redirects: URL[] = []
    const saveTokens = vi.fn()
    const authProvider = createOwnProvider(redirects, {
      clientInformation: () => ({ client_id: 'own', issuer: server.origin }),
      saveTokens,
      ...discovery(server.origin),
    })
    const client = createClient({
      servers: { shop: { url: `${server.origin}/mcp`, authProvider } },
      onError: () => {},
    })
    await client.listTools()
    expect(redirects.map(({ origin }) => origin)).toEqual([server.origin])
    await client.finishAuth('shop', new URLSearchParams({ code: 'c' }))
    expect(saveTokens).toHaveBeenCalledOnce()
  })

  it('nor with a provider of one’s own', async () => {
    const server = await start({ code_challenge_methods_supported: undefined })
    const redirects: URL[] = []
    const authProvider = createOwnProvider(redirects, {})
    const client = createClient({
      servers: { shop: { url: `${server.origin}/mcp`, authProvider } },
      onError: () => {},
    })
    await client.listTools()
    expect(redirects).toEqual([])
    expect(client.errors.shop).toMatchObject({
      code: 'UNAUTHORIZED',
      message: expect.stringContaining('does not list S256 in code_challenge_methods_supported'),
    })
  })
})
