/** What a provider by OpenID Connect is, and how it is asked. */
import * as oauth from 'oauth4webapi'
import type { UpstreamFetch, UpstreamFetchOptions } from '../fetch.ts'
import type { UpstreamStart } from '../upstream.ts'

/** The claims of an ID token. */
export interface Claims {
  readonly iss: string
  readonly sub: string
  readonly [claim: string]: unknown
}

/** What a provider is for one environment. */
export interface Provider {
  readonly issuer: string
  /** The issuer of several tenants, with `{tenantid}` for the `tid` of a token: then `issuer` only names the metadata. */
  readonly template?: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface OpenIdDefinition extends UpstreamFetchOptions {
  readonly name: string
  readonly id: string
  /** @throws UpstreamFault for what is not set. */
  provider(env: unknown): Provider
  readonly scopes: readonly string[]
  /** Parameters of the authorization request, after the standard ones. `isOffline`: whether the provider lists `offline_access`. */
  parameters?(start: UpstreamStart, isOffline: boolean): { readonly [name: string]: string }
  /** Asks for `offline_access` where the provider lists it. */
  readonly wantsOffline: boolean
  readonly clientAuth?: 'basic' | 'post' | undefined
  /** Whether its issuer vouches for the email. Default: `email_verified` is true. */
  isEmailVerified?(claims: Claims): boolean
  /** @throws UpstreamRefusedError for a person who may not sign in. */
  check?(claims: Claims, env: unknown): void
}

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
