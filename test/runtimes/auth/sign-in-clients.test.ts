/**
 * Clients of others, and ours, with a server that people sign in to by a real OpenID provider: each is refused, signs in, calls a tool,
 * loses its access token, refreshes by itself and calls again. They register, or have a metadata document.
 */
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOAuthProvider, MCPClient } from '../../../src/client.ts'
import { loadAiSdk } from '../sign-in/_others.ts'
import { signIn } from './_browser.ts'
import {
  authorize,
  connected,
  Desk,
  discoverWith,
  REDIRECT_URL,
  signedIn,
  transportFor,
  turnedAway,
} from './_desk.ts'
import { type ServedSignIn, serveSignIn } from './_sign-in-served.ts'

const DOCUMENT_URL = 'https://app.example.com/client.json'
const DOCUMENT = {
  client_id: DOCUMENT_URL,
  client_name: 'desk',
  redirect_uris: [REDIRECT_URL],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}

let served: ServedSignIn
beforeAll(async () => {
  const env = { DOCUMENT: JSON.stringify(DOCUMENT) }
  served = await serveSignIn('test/runtimes/auth/sign-in-fixture.ts', { env })
})
afterAll(() => served?.stop())

const CALL = { name: 'who', arguments: {} }
const ADA = { caller: 'Ada Lovelace' }
const KINDS = ['registration', 'document'] as const

function deskFor(kind: (typeof KINDS)[number]): Desk & { clientMetadataUrl?: string } {
  const desk = new Desk()
  return kind === 'document' ? Object.assign(desk, { clientMetadataUrl: DOCUMENT_URL }) : desk
}

function expectClient(url: URL | undefined, kind: (typeof KINDS)[number]): void {
  expect(url?.href).toMatch(`${served.url.origin}/oauth/authorize?`)
  expect(url?.searchParams.get('resource')).toBe(served.url.href)
  const clientId = url?.searchParams.get('client_id')
  if (kind === 'document') expect(clientId).toBe(DOCUMENT_URL)
  else expect(clientId).toMatch(/^[\w-]{16}$/)
}

/** RFC 7009: the server no longer takes the access token, and its client notices by a 401. */
async function revoke(token: string | undefined, clientId: string | null | undefined): Promise<void> {
  const body = new URLSearchParams({ token: token ?? '', client_id: clientId ?? '' })
  expect((await fetch(new URL('/oauth/token', served.url), { method: 'POST', body })).status).toBe(200)
  expect((await discoverWith(served.url, token)).status).toBe(401)
}

/** After a sign-in, `call` has to refresh; nobody is asked again. */
async function refreshesBefore(desk: Desk, call: () => Promise<unknown>): Promise<void> {
  const before = desk.stored
  const clientId = desk.authorizationUrl?.searchParams.get('client_id')
  await revoke(before?.access_token, clientId)
  desk.authorizationUrl = undefined

  expect(await call()).toMatchObject({ structuredContent: ADA })

  expect(desk.authorizationUrl).toBeUndefined()
  expect(desk.stored?.access_token).not.toBe(before?.access_token)
  expect(desk.stored?.refresh_token).not.toBe(before?.refresh_token)
}

describe.each(KINDS)('by %s', (kind) => {
  it('the official client', async () => {
    const desk = deskFor(kind)
    const client = await signedIn(served.url, desk)
    expectClient(desk.authorizationUrl, kind)
    expect(desk.authorizationUrl?.searchParams.get('scope')).toBe('shop')
    expect(await client.callTool(CALL)).toMatchObject({ structuredContent: { ...ADA, scopes: ['shop'] } })

    await refreshesBefore(desk, () => client.callTool(CALL))
    await client.close()
  })

  it('the official client of v1', async () => {
    const desk = deskFor(kind)
    const transport = () => new HttpV1(served.url, { authProvider: desk })
    const first = transport()
    const stranger = new ClientV1({ name: 'desk', version: '1' })
    // A cast at the SDK's own boundary: its transport class is not its Transport under exactOptionalPropertyTypes.
    await expect(stranger.connect(first as Transport)).rejects.toThrow('Unauthorized')
    expectClient(desk.authorizationUrl, kind)
    const callback = await signIn(desk.authorizationUrl!, REDIRECT_URL)
    await first.finishAuth(callback.searchParams.get('code')!)
    const client = new ClientV1({ name: 'desk', version: '1' })
    await client.connect(transport() as Transport)
    expect(await client.callTool(CALL)).toMatchObject({ structuredContent: ADA })

    await refreshesBefore(desk, () => client.callTool(CALL))
    await client.close()
  })

  it('MCPClient', async () => {
    const storage = new Map<string, string>()
    const redirects: URL[] = []
    const authProvider = createOAuthProvider({
      storage,
      redirectUrl: REDIRECT_URL,
      clientMetadata: { client_name: 'desk', application_type: 'native' },
      onRedirect: (url) => redirects.push(url),
      ...(kind === 'document' && { clientMetadataUrl: DOCUMENT_URL }),
    })
    const url = served.url.href
    const client = new MCPClient({ servers: { shop: { url, authProvider } }, onError: () => {} })
    await expect(client.callTool('shop', 'who')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expectClient(redirects[0], kind)
    await client.finishAuth('shop', (await signIn(redirects[0]!, REDIRECT_URL)).searchParams)
    expect(await client.callTool('shop', 'who')).toMatchObject({ structuredContent: ADA })

    const tokens = () =>
      JSON.parse([...storage].find(([key]) => key.endsWith(':tokens'))![1]) as { access_token: string }
    const before = tokens().access_token
    await revoke(before, redirects[0]?.searchParams.get('client_id'))
    expect(await client.callTool('shop', 'who')).toMatchObject({ structuredContent: ADA })
    expect(tokens().access_token).not.toBe(before)
    expect(redirects).toHaveLength(1)
    await client.disconnect()
  })
})

it('is stepped up: 403 names the scope, the person grants it, the call succeeds [auth.step-up]', async () => {
  const desk = new Desk()
  const client = await signedIn(served.url, desk)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['who'])
  const call = { name: 'refund', arguments: {} }

  await expect(client.callTool(call)).rejects.toThrow()

  expect(desk.authorizationUrl?.searchParams.get('scope')?.split(' ').sort()).toEqual(['refund', 'shop'])
  await authorize(desk, transportFor(served.url, desk))
  const again = await connected(served.url, desk)
  expect(await again.callTool(call)).toMatchObject({ content: [{ text: 'refunded' }] })
  await Promise.all([client.close(), again.close()])
})

it('a client whose refresh token was revoked is sent to sign in again', async () => {
  const desk = new Desk()
  const client = await signedIn(served.url, desk)
  await revoke(desk.stored?.refresh_token, desk.authorizationUrl?.searchParams.get('client_id'))
  await client.close()
  desk.authorizationUrl = undefined

  await turnedAway(served.url, desk)

  expect(desk.authorizationUrl).toBeDefined()
})

it('the client of the AI SDK', async () => {
  const { auth, createMCPClient } = await loadAiSdk()
  const desk = new Desk()
  const connect = () =>
    createMCPClient({ transport: { type: 'http', url: served.url.href, authProvider: desk } })
  await expect(connect()).rejects.toThrow()
  expectClient(desk.authorizationUrl, 'registration')
  const { searchParams } = await signIn(desk.authorizationUrl!, REDIRECT_URL)
  const callbackIssuer = searchParams.get('iss')!
  expect(callbackIssuer).toBe(served.url.origin)
  const authorizationCode = searchParams.get('code')!
  expect(await auth(desk, { serverUrl: served.url, authorizationCode, callbackIssuer })).toBe('AUTHORIZED')
  const client = await connect()
  expect(await client.callTool(CALL)).toMatchObject({ structuredContent: ADA })

  await refreshesBefore(desk, () => client.callTool(CALL))
  await client.close()
})
