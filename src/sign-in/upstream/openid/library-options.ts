/** What the OAuth library is given to ask a provider by OpenID Connect. */
import * as oauth from 'oauth4webapi'
import type { UpstreamFetch } from '../fetch.ts'
import type { OpenIdDefinition, Provider } from './definition.ts'

interface RequestOptions {
  readonly [oauth.customFetch]: (url: string, init: object) => Promise<Response>
  readonly [oauth.allowInsecureRequests]: boolean
}

export function requestOptions({ issuer }: Provider, send: UpstreamFetch): RequestOptions {
  return {
    [oauth.customFetch]: (url, init) => send(url, init as RequestInit),
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  }
}

export function clientOf({ clientId }: Provider): oauth.Client {
  return { client_id: clientId, [oauth.clockTolerance]: 30 }
}

export function authentication(
  { clientAuth }: OpenIdDefinition,
  server: oauth.AuthorizationServer,
  { clientSecret }: Provider,
): oauth.ClientAuth {
  // RFC 8414 §2: without the list it is `client_secret_basic`.
  const listed = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const chosen = clientAuth ?? (listed.includes('client_secret_basic') ? 'basic' : 'post')
  return chosen === 'basic' ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret)
}
