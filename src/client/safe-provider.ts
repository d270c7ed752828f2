/** Wraps the user's `authProvider` for one server. */
import type { AuthProvider, OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client'
import { mayVisit } from './allowed-urls.ts'
import type { HttpServerConfig } from './config.ts'
import { SignInRefused } from './errors.ts'
import { printable } from './printable.ts'
import { refreshClaims, type ServerOAuthProvider } from './sign-in-provider.ts'

/** Maximum discoveries to remember: several sign-ins may start at the same time. */
const MAX_DISCOVERED = 32

/** The provider for this server, which sends users only to URLs that `mayVisit` allows, and only if PKCE protects the sign-in. */
export function createSafeProvider(
  provider: ServerOAuthProvider | OAuthClientProvider | AuthProvider,
  url: HttpServerConfig['url'],
): OAuthClientProvider | AuthProvider {
  if ('forServer' in provider) return withSafeRedirects(provider.forServer(url))
  if (!('redirectToAuthorization' in provider)) return provider
  return withSafeRedirects(provider)
}

/** A proxy, not a copy: the provider may be an instance of a class with private members. */
function withSafeRedirects(provider: OAuthClientProvider): OAuthClientProvider {
  const discovered: OAuthDiscoveryState[] = []
  const learn = (state: OAuthDiscoveryState | undefined): void => {
    if (state !== undefined) discovered.unshift(state)
    if (discovered.length > MAX_DISCOVERED) discovered.pop()
  }
  const guarded: Partial<OAuthClientProvider> = {
    redirectToAuthorization: (url) => {
      requireVisitable(url)
      requirePkce(url, discovered)
      return provider.redirectToAuthorization(url)
    },
    saveDiscoveryState: (state) => {
      learn(state)
      return provider.saveDiscoveryState?.(state)
    },
    discoveryState: async () => {
      const state = await provider.discoveryState?.()
      learn(state)
      return state
    },
  }
  const safe = new Proxy(provider, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (name === 'redirectToAuthorization' || name === 'saveDiscoveryState') return guarded[name]
      if (name === 'discoveryState' && member !== undefined) return guarded[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const claim = refreshClaims.get(provider)
  if (claim !== undefined) refreshClaims.set(safe, claim)
  return safe
}

/** The official client expects a provider with `saveDiscoveryState` to remember its discovery when a sign-in ends. */
export function toFinishing(guarded: OAuthClientProvider, own: object): OAuthClientProvider {
  if (Reflect.get(own, 'saveDiscoveryState') !== undefined) return guarded
  return new Proxy(guarded, {
    get: (target, name) => (name === 'saveDiscoveryState' ? undefined : Reflect.get(target, name, target)),
  })
}

/**
 * MCP 2026-07-28, "Authorization Code Protection": a client must not go on if the authorization server does not list PKCE.
 *
 * @throws SignInRefused
 */
function requirePkce(url: URL, discovered: readonly OAuthDiscoveryState[]): void {
  const found = discovered.find(({ authorizationServerUrl, authorizationServerMetadata }) => {
    const endpoint = authorizationServerMetadata?.authorization_endpoint ?? '/authorize'
    const known = new URL(endpoint, authorizationServerUrl)
    return known.origin === url.origin && known.pathname === url.pathname
  })
  if (found?.authorizationServerMetadata?.code_challenge_methods_supported?.includes('S256')) return
  throw new SignInRefused(
    `its authorization server does not list S256 in code_challenge_methods_supported (${printable(url.origin, 100)}), so a stolen code could be used`,
  )
}

/** @throws SignInRefused */
export function requireVisitable(url: URL): void {
  if (mayVisit(url)) return
  const { protocol, host, pathname } = url
  const place = host === '' ? `${protocol}…` : `${protocol}//${host}${pathname}`
  throw new SignInRefused(`at ${printable(place, 100)}, which is neither https nor http on this machine`)
}
