/** An OAuth provider over any storage, for the official client's authorization flow. */

import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { digest } from '../definition/digest.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import { createProviderStore, type OAuthStorage, type ProviderStore } from './oauth-storage.ts'
import {
  type RefreshClaim,
  refreshClaims,
  type ServerOAuthProvider,
  type SignInProvider,
} from './sign-in-provider.ts'
import { type SignIn, SignIns } from './sign-ins.ts'

export type { OAuthStorage, ServerOAuthProvider, SignInProvider }

/** Options of `createOAuthProvider`. */
export interface OAuthProviderOptions {
  /** Stores registrations, tokens and pending sign-ins, separately for each server. They are secrets. */
  storage: OAuthStorage
  /** The URL to which the user returns after signing in. */
  redirectUrl: string | URL
  /** The metadata with which the client registers; `redirect_uris` is filled in. */
  clientMetadata?: Partial<OAuthClientMetadata>
  /**
   * Sends the user to sign in, at an https URL, or http on this machine. The request that needed the sign-in fails with
   * `UNAUTHORIZED`. While a sign-in is pending, requests that need the same one get the same URL again.
   */
  onRedirect: (url: URL) => unknown
  /** Prefix of the keys. Use one per user if several share a storage. Default `mcp`. */
  prefix?: string
  /**
   * For a client that is registered already. Default: it registers itself. A secret is sent only to the authorization server with this
   * `issuer`, never to another one that an MCP server names.
   */
  clientInformation?: { client_id: string; client_secret?: string; issuer?: string }
  /**
   * The https URL of this client's metadata document (with `client_id`, `client_name` and `redirect_uris`), which is its id at every
   * authorization server that supports such documents. Used if `clientInformation` is not for that server, before registering.
   */
  clientMetadataUrl?: string | URL
}

const OPTIONS: Names<OAuthProviderOptions> = {
  storage: 'object',
  redirectUrl: 'string object',
  clientMetadata: 'object',
  onRedirect: 'function',
  prefix: 'string',
  clientInformation: 'object',
  clientMetadataUrl: 'string object',
}
const CLIENT_INFORMATION: Names<NonNullable<OAuthProviderOptions['clientInformation']>> = {
  client_id: 'string',
  client_secret: 'string',
  issuer: 'string',
}

/** Creates a storage in this process, for tests and scripts. */
export function createMemoryOAuthStorage(): OAuthStorage {
  return new Map<string, string>()
}

/**
 * Creates an `authProvider` that keeps everything in `storage`, so that the redirect may reach another process than the one that began.
 * Of the ways to have a client id, it uses the first that is available: `clientInformation`, `clientMetadataUrl`, and registration
 * (RFC 7591), which is deprecated (MCP 2026-07-28, "Client Registration"). With PKCE and a `state` that `finishAuth` checks. A token is only
 * sent to the URL that it was issued for, even if others use the same storage.
 *
 * ```ts
 * const authProvider = createOAuthProvider({
 *   storage: createMemoryOAuthStorage(),
 *   redirectUrl: 'https://agent.example/callback',
 *   onRedirect: (url) => console.log(`Sign in at ${url}`),
 * })
 * ```
 *
 * @throws TypeError for a `client_secret` without `issuer`, and for a `clientMetadataUrl` that is not https with a path.
 */
export function createOAuthProvider(options: OAuthProviderOptions): ServerOAuthProvider {
  requireOptions('createOAuthProvider', options, OPTIONS, 'storage', 'redirectUrl', 'onRedirect')
  const { clientInformation } = options
  refuseUnknown('"clientInformation"', clientInformation, CLIENT_INFORMATION)
  if (clientInformation?.client_secret !== undefined && clientInformation.issuer === undefined) {
    throw new TypeError(
      'clientInformation.issuer must name the authorization server that client_secret is for: an MCP server could have it sent elsewhere.',
    )
  }
  checkDocument(options.clientMetadataUrl)
  return { forServer: (url) => createServerProvider(options, new URL(url)) }
}

function createServerProvider(options: OAuthProviderOptions, server: URL): SignInProvider {
  const { storage, prefix = 'mcp', onRedirect } = options
  const store = createProviderStore(storage, async () => `${prefix}:${await digest(resourceOf(server))}`)
  const signIns = new SignIns(store, onRedirect)
  const clients = clientsOf(options, store, signIns)
  const claim = claimOf(store, storage)
  const base = { ...createBase(options, store, claim), ...clients }
  const provider: SignInProvider = {
    ...base,
    state: () => crypto.randomUUID(),
    saveCodeVerifier: (verifier) => signIns.prepare(verifier),
    saveDiscoveryState: (state) => signIns.discovered(state),
    redirectToAuthorization: (url) => signIns.begin(url),
    // Each new sign-in does discovery again: a server may have moved to another authorization server.
    discoveryState: () => undefined,
    codeVerifier: () => {
      throw new Error('There is no sign-in to finish.')
    },
    finishing: async (callback) => {
      const signIn = await signIns.take(callback.get('state') ?? '')
      return signIn && createFinish(base, signIn)
    },
  }
  refreshClaims.set(provider, claim)
  return provider
}

const claimOf = (store: ProviderStore, owner: OAuthStorage): RefreshClaim => ({
  owner,
  take: async () => (await store.take('refresh', () => true)) !== undefined,
  giveBack: () => store.save('refresh', true),
})

/** The resource of a token, as RFC 8707 §2 defines it: without the fragment. */
function resourceOf(server: URL): string {
  const resource = new URL(server)
  resource.hash = ''
  return resource.href
}

type Clients = Pick<OAuthClientProvider, 'clientInformation' | 'saveClientInformation' | 'clientMetadataUrl'>
type Base = Clients &
  Pick<
    OAuthClientProvider,
    'redirectUrl' | 'clientMetadata' | 'tokens' | 'saveTokens' | 'invalidateCredentials'
  >

/** @throws TypeError (MCP 2026-07-28, "Client ID Metadata Documents"). */
function checkDocument(url: string | URL | undefined): void {
  if (url === undefined) return
  const { protocol, pathname } = URL.canParse(url) ? new URL(url) : { protocol: '', pathname: '/' }
  if (protocol === 'https:' && pathname !== '/') return
  throw new TypeError(
    `clientMetadataUrl must be an https URL with a path, such as https://agent.example/client.json.`,
  )
}

function clientsOf(
  { clientInformation, clientMetadataUrl }: OAuthProviderOptions,
  store: ProviderStore,
  signIns: SignIns,
): Clients {
  const own = clientInformation && configured(clientInformation)
  if (clientMetadataUrl === undefined) return own ?? registering(store, signIns, undefined)
  const others = registering(store, signIns, String(clientMetadataUrl))
  const { issuer } = clientInformation ?? {}
  return {
    ...others,
    clientMetadataUrl: String(clientMetadataUrl),
    clientInformation: (context) =>
      own !== undefined && (issuer === undefined || issuer === context?.issuer)
        ? own.clientInformation(context)
        : others.clientInformation(context),
  }
}

/** Only the configured client. One without a secret may be used with any authorization server. */
function configured(client: NonNullable<OAuthProviderOptions['clientInformation']>): Clients {
  return {
    clientInformation: (context) => {
      const issuer = client.issuer ?? context?.issuer
      return { ...client, ...(issuer !== undefined && { issuer }) }
    },
  }
}

type StoredClient = StoredOAuthClientInformation & { readonly isMetadataDocument?: true }

/** A client that registers itself unless it has a registration. */
function registering(store: ProviderStore, signIns: SignIns, ownUrl: string | undefined): Clients {
  return {
    clientInformation: async (context) => {
      const client = ofIssuer(await store.load<StoredClient>('client'), context)
      // The document of an earlier configuration.
      if (client?.isMetadataDocument && client.client_id !== ownUrl) return undefined
      if (client !== undefined) signIns.registered(client)
      return client
    },
    saveClientInformation: async (client, context) => {
      const stamped: StoredClient = {
        ...stamp(client, context),
        // The ids of registered clients can be https URLs, too.
        ...(client.client_id === ownUrl && { isMetadataDocument: true }),
      }
      signIns.registered(stamped)
      await store.save('client', stamped)
    },
  }
}

function createBase(
  { redirectUrl, ...options }: OAuthProviderOptions,
  store: ProviderStore,
  claim: RefreshClaim,
): Omit<Base, keyof Clients> {
  return {
    redirectUrl,
    clientMetadata: toMetadata({ redirectUrl, ...options }),
    tokens: async (context) => ofIssuer(await store.load<StoredOAuthTokens>('tokens'), context),
    saveTokens: async (tokens, context) => {
      await store.save('tokens', stamp(tokens, context))
      await claim.giveBack()
    },
    invalidateCredentials: async (scope) => {
      if (scope === 'client' || scope === 'all') await store.forget('client')
      if (scope !== 'tokens' && scope !== 'all') return
      for (const name of ['tokens', 'refresh']) await store.forget(name)
    },
  }
}

function stamp<Issued extends object>(
  issued: Issued,
  context: OAuthClientInformationContext | undefined,
): Issued {
  return context === undefined ? issued : { ...issued, issuer: context.issuer }
}

/** Ignores what another authorization server issued. */
function ofIssuer<Issued extends { readonly issuer?: string | undefined }>(
  issued: Issued | undefined,
  context: OAuthClientInformationContext | undefined,
): Issued | undefined {
  return context === undefined || issued?.issuer === context.issuer ? issued : undefined
}

function createFinish(base: Base, { verifier, discovery, client }: SignIn): OAuthClientProvider {
  return {
    ...base,
    clientInformation: (context) => client ?? base.clientInformation(context),
    saveTokens: async (tokens, context) => {
      // Tokens are refreshed by the client that they were issued to.
      if (client !== undefined) await base.saveClientInformation?.(client, context)
      await base.saveTokens(tokens, context)
    },
    // A refused code says nothing about the tokens of an earlier sign-in.
    invalidateCredentials: async (scope) => {
      if (scope === 'client') await base.invalidateCredentials?.(scope)
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveCodeVerifier: () => {},
    saveDiscoveryState: () => {},
    redirectToAuthorization: () => {
      throw new Error(
        'The authorization server wants the user to sign in once more: start the sign-in again.',
      )
    },
  }
}

function toMetadata({ clientMetadata, redirectUrl }: OAuthProviderOptions): OAuthClientMetadata {
  return {
    client_name: 'mayfly-mcp',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...clientMetadata,
    redirect_uris: [String(redirectUrl)],
  }
}
