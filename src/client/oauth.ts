/** An OAuth provider over any storage, for the official client's authorization flow. */
import type { OAuthClientMetadata, OAuthClientProvider } from '@modelcontextprotocol/client'

/** Text by key. A `Map` is one; so is a thin wrapper over any key-value store. */
export interface OAuthStorage {
  get(key: string): string | null | undefined | Promise<string | null | undefined>
  set(key: string, value: string): unknown
  delete(key: string): unknown
}

export interface OAuthProviderOptions {
  /** Where the registration, the tokens and a sign-in under way are kept. They are secrets. */
  storage: OAuthStorage
  /** Where the user comes back to. */
  redirectUrl: string | URL
  /** What the client registers as; `redirect_uris` is filled in. */
  clientMetadata?: Partial<OAuthClientMetadata>
  /** Sends the user to sign in. The request that needed it fails with `UNAUTHORIZED`. */
  onRedirect: (url: URL) => unknown
  /** Prefix of the keys. One for each user and server where several share a storage: tokens are found by it. Default `mcp`. */
  prefix?: string
  /** For a client that is registered already. Default: it registers itself. */
  clientInformation?: { client_id: string; client_secret?: string }
}

/** What `finishAuth` needs to tell its own redirects from forged ones. */
export interface StatefulOAuthProvider extends OAuthClientProvider {
  /** Whether this redirect answers the sign-in that this storage began. Forgets it: a redirect counts once. */
  takeState(callback: URLSearchParams): Promise<boolean>
}

type Kept = 'client' | 'tokens' | 'verifier' | 'discovery' | 'state'

/** Kept in this process alone: tests and scripts. */
export function createMemoryOAuthStorage(): OAuthStorage {
  return new Map<string, string>()
}

/**
 * An `authProvider` that keeps everything in `storage`, so that the redirect may land on another process than the one that began.
 * Registers itself where the authorization server lets it (RFC 7591), with PKCE and a `state` that `finishAuth` checks.
 *
 * ```ts
 * const authProvider = createOAuthProvider({
 *   storage: createMemoryOAuthStorage(),
 *   redirectUrl: 'https://agent.example/callback',
 *   onRedirect: (url) => console.log(`Sign in at ${url}`),
 * })
 * ```
 */
export function createOAuthProvider(options: OAuthProviderOptions): StatefulOAuthProvider {
  const { storage, redirectUrl, onRedirect, prefix = 'mcp', clientInformation } = options
  const { load, save, forget } = createKeep(storage, prefix)
  let isFinishing = false
  return {
    redirectUrl,
    clientMetadata: toMetadata(options),
    state: async () => {
      const state = crypto.randomUUID()
      await save('state', state)
      return state
    },
    takeState: async (callback) => {
      const expected = await load<string>('state')
      await forget('state')
      isFinishing = expected !== undefined && callback.get('state') === expected
      return isFinishing
    },
    clientInformation: async () => clientInformation ?? (await load('client')),
    saveClientInformation: (information) => save('client', information),
    tokens: () => load('tokens'),
    saveTokens: async (tokens) => {
      await save('tokens', tokens)
      if (isFinishing) await forget('verifier', 'discovery')
      isFinishing = false
    },
    redirectToAuthorization: async (url) => void (await onRedirect(url)),
    saveCodeVerifier: (verifier) => save('verifier', verifier),
    codeVerifier: async () => {
      const verifier = await load<string>('verifier')
      if (verifier === undefined)
        throw new Error('No sign-in is under way: it was finished, or began with another storage.')
      return verifier
    },
    saveDiscoveryState: (state) => save('discovery', state),
    // For the sign-in under way alone: a server may move to another authorization server later.
    discoveryState: async () =>
      (await load('verifier')) === undefined ? undefined : await load('discovery'),
    invalidateCredentials: async (scope) => {
      if (scope === 'all') await forget('client', 'tokens', 'verifier', 'discovery', 'state')
      else await forget(scope)
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

interface Keep {
  load<T>(kept: Kept): Promise<T | undefined>
  save(kept: Kept, value: unknown): Promise<void>
  forget(...kept: Kept[]): Promise<void>
}

/** JSON in the storage. */
function createKeep(storage: OAuthStorage, prefix: string): Keep {
  const keyOf = (kept: Kept): string => `${prefix}:${kept}`
  return {
    async load<T>(kept: Kept) {
      const text = await storage.get(keyOf(kept))
      // What `save` put there.
      return text === null || text === undefined ? undefined : (JSON.parse(text) as T)
    },
    async save(kept, value) {
      await storage.set(keyOf(kept), JSON.stringify(value))
    },
    async forget(...kept) {
      for (const one of kept) await storage.delete(keyOf(one))
    },
  }
}
