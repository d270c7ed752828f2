/** What a provider by OpenID Connect is. Its declarations are public, so they name no type of a library that is bundled. */
import type { UpstreamFetchOptions } from '../fetch.ts'
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
