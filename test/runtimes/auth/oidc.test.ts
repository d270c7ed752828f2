/** The whole dance with a real authorization server: the official client discovers, registers, signs in, calls, steps up, refreshes. */
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { node } from '../../../deploy/node/target.ts'
import { modernRequest } from '../../contract/wire.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'
import { type AuthorizationServer, signIn, startAuthorizationServer } from './_provider.ts'

const REDIRECT_URL = 'http://127.0.0.1:9/callback'

let authorizationServer: AuthorizationServer
let served: ServedArtefact
beforeAll(async () => {
  authorizationServer = await startAuthorizationServer()
  served = await serveArtefact(
    'test/runtimes/auth/fixture.ts',
    withEnv(node, { ISSUER: authorizationServer.issuer }),
  )
})
afterAll(async () => {
  await served?.stop()
  await authorizationServer?.[Symbol.asyncDispose]()
})

type Information = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>

/** Keeps everything in memory, and the address that a browser would be sent to. */
class Desk implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URL
  readonly clientMetadata = {
    client_name: 'desk',
    redirect_uris: [REDIRECT_URL],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native' as const,
  }
  authorizationUrl: URL | undefined
  stored: Tokens
  #information: Information
  #verifier = ''
  clientInformation(): Information {
    return this.#information
  }
  saveClientInformation(information: NonNullable<Information>): void {
    this.#information = information
  }
  tokens(): Tokens {
    return this.stored
  }
  saveTokens(tokens: NonNullable<Tokens>): void {
    this.stored = tokens
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }
  codeVerifier(): string {
    return this.#verifier
  }
}

const transportFor = (desk: Desk) => new StreamableHTTPClientTransport(served.url, { authProvider: desk })

/** The user signs in where the client sent them; the client takes the code. */
async function authorize(desk: Desk, transport: StreamableHTTPClientTransport): Promise<void> {
  const callback = await signIn(desk.authorizationUrl!, REDIRECT_URL)
  await transport.finishAuth(callback.searchParams)
}

async function connected(desk: Desk): Promise<Client> {
  const client = new Client({ name: 'desk', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transportFor(desk))
  return client
}

async function signedIn(desk: Desk): Promise<Client> {
  const transport = transportFor(desk)
  const stranger = new Client({ name: 'desk', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await expect(stranger.connect(transport)).rejects.toThrow(UnauthorizedError)
  await authorize(desk, transport)
  return connected(desk)
}

it('a client that knows only the address finds its way, and the tool knows the user [auth.challenge] [auth.metadata] [auth.jwt]', async () => {
  const desk = new Desk()

  const client = await signedIn(desk)

  // What the client asked for came from our challenge and our metadata.
  expect(desk.authorizationUrl?.origin).toBe(authorizationServer.issuer)
  expect(desk.authorizationUrl?.searchParams.get('resource')).toBe(served.url.href)
  expect(desk.authorizationUrl?.searchParams.get('scope')?.split(' ')).toContain('shop')
  const { structuredContent } = await client.callTool({ name: 'who', arguments: {} })
  expect(structuredContent).toMatchObject({ subject: 'ann', scopes: expect.arrayContaining(['shop']) })
  await client.close()
}, 30_000)

it('is stepped up: 403 names the scope, the user grants it, the call succeeds [auth.step-up]', async () => {
  const desk = new Desk()
  const client = await signedIn(desk)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['who'])
  desk.authorizationUrl = undefined

  await expect(client.callTool({ name: 'refund', arguments: {} })).rejects.toThrow()

  const stepUp = desk.authorizationUrl as URL | undefined
  expect(stepUp?.searchParams.get('scope')?.split(' ')).toEqual(expect.arrayContaining(['refund']))
  await authorize(desk, transportFor(desk))
  const again = await connected(desk)
  expect(await again.callTool({ name: 'refund', arguments: {} })).toMatchObject({
    content: [{ text: 'refunded' }],
  })
  await Promise.all([client.close(), again.close()])
}, 30_000)

it('refreshes by itself once the token has expired [auth.challenge]', async () => {
  const desk = new Desk()
  authorizationServer.accessTokenSeconds = 1
  const transport = transportFor(desk)
  const stranger = new Client({ name: 'desk', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await expect(stranger.connect(transport)).rejects.toThrow(UnauthorizedError)
  await authorize(desk, transport)
  const expired = desk.stored?.access_token
  authorizationServer.accessTokenSeconds = 600
  await expect.poll(async () => (await discoverWith(expired)).status, { timeout: 10_000 }).toBe(401)
  desk.authorizationUrl = undefined

  const client = await connected(desk)

  expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
    structuredContent: { subject: 'ann' },
  })
  expect(desk.stored?.access_token).not.toBe(expired)
  expect(desk.authorizationUrl).toBeUndefined()
  await client.close()
}, 30_000)

it('a token that the same issuer made for another resource is refused [auth.jwt]', async () => {
  const desk = new Desk()
  const transport = transportFor(desk)
  const stranger = new Client({ name: 'desk', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await expect(stranger.connect(transport)).rejects.toThrow(UnauthorizedError)
  const { client_id: clientId = '' } = (await desk.clientInformation()) ?? {}
  const other = 'http://127.0.0.1:9/other'
  const url = new URL(desk.authorizationUrl!)
  url.searchParams.set('resource', other)
  const callback = await signIn(url, REDIRECT_URL)
  const response = await fetch(`${authorizationServer.issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: REDIRECT_URL,
      client_id: clientId,
      code_verifier: desk.codeVerifier(),
      resource: other,
    }),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  expect(token).toMatch(/^ey/)

  const refused = await discoverWith(token)

  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
}, 30_000)

function discoverWith(token: string | undefined): Promise<Response> {
  return fetch(
    modernRequest(served.url, 'server/discover', {}, { headers: { authorization: `Bearer ${token}` } }),
  )
}
