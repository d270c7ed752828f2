/** The official client, whose user signs in through a browser: what it must keep, and its way to a token. */
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { modernRequest } from '../../contract/wire.ts'
import { signIn } from './_browser.ts'

export const REDIRECT_URL = 'http://127.0.0.1:9/callback'

type Information = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
type Tokens = Awaited<ReturnType<OAuthClientProvider['tokens']>>

/** Keeps everything in memory, and the address that a browser would be sent to. */
export class Desk implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URL
  readonly clientMetadata
  authorizationUrl: URL | undefined
  stored: Tokens
  #information: Information
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined
  constructor(name = 'desk') {
    this.clientMetadata = {
      client_name: name,
      redirect_uris: [REDIRECT_URL],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native' as const,
    }
  }
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
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered
  }
  invalidateCredentials(kind: string): void {
    if (kind === 'all' || kind === 'tokens') this.stored = undefined
    if (kind === 'all' || kind === 'client') this.#information = undefined
  }
}

export function transportFor(url: URL, desk: Desk): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(url, { authProvider: desk })
}

/** The user signs in where the client sent them; the client takes the code. */
export async function authorize(desk: Desk, transport: StreamableHTTPClientTransport): Promise<void> {
  const callback = await signIn(desk.authorizationUrl!, REDIRECT_URL)
  await transport.finishAuth(callback.searchParams)
}

export async function connected(url: URL, desk: Desk): Promise<Client> {
  const client = createClient()
  await client.connect(transportFor(url, desk))
  return client
}

/** As a stranger, as far as the address to which a browser is to be sent. */
export async function turnedAway(url: URL, desk: Desk): Promise<StreamableHTTPClientTransport> {
  const transport = transportFor(url, desk)
  await expect(createClient().connect(transport)).rejects.toThrow(UnauthorizedError)
  return transport
}

export async function signedIn(url: URL, desk: Desk): Promise<Client> {
  await authorize(desk, await turnedAway(url, desk))
  return connected(url, desk)
}

/** By hand: what a client never shows of an answer. */
export function discoverWith(url: URL, token: string | undefined): Promise<Response> {
  return fetch(modernRequest(url, 'server/discover', {}, { headers: { authorization: `Bearer ${token}` } }))
}

const createClient = () =>
  new Client({ name: 'desk', version: '1' }, { versionNegotiation: { mode: 'auto' } })
