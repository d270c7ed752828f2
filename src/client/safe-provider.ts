/** Wraps the user's `authProvider` for one server. */
import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client'
import { mayVisit } from './allowed-urls.ts'
import type { HttpServerConfig } from './config.ts'
import { SignInRefused } from './errors.ts'
import { printable } from './printable.ts'
import type { ServerOAuthProvider } from './sign-in-provider.ts'

/** The provider for this server, which sends users only to URLs that `mayVisit` allows. */
export function createSafeProvider(
  provider: ServerOAuthProvider | OAuthClientProvider | AuthProvider,
  url: HttpServerConfig['url'],
): OAuthClientProvider | AuthProvider {
  if ('forServer' in provider) return provider.forServer(url)
  if (!('redirectToAuthorization' in provider)) return provider
  return withSafeRedirects(provider)
}

/** A proxy, not a copy: the provider may be an instance of a class with private members. */
function withSafeRedirects(provider: OAuthClientProvider): OAuthClientProvider {
  const redirectToAuthorization: OAuthClientProvider['redirectToAuthorization'] = (url) => {
    requireVisitable(url)
    return provider.redirectToAuthorization(url)
  }
  return new Proxy(provider, {
    get: (target, name) => {
      if (name === 'redirectToAuthorization') return redirectToAuthorization
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** @throws SignInRefused */
export function requireVisitable(url: URL): void {
  if (mayVisit(url)) return
  throw new SignInRefused(`at ${printable(url.href, 100)}, which is neither https nor http on this machine`)
}
