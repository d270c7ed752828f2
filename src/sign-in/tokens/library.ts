/**
 * The OAuth library's authorization server, and its records that sign-in reads. Its own types need those of a platform, so these are the
 * members that are used, as of version 1.2.3; test/unit/sign-in/library.test.ts compares them with what it writes.
 */
import {
  authorizationErrorRedirect as redirect,
  AuthorizationError as TheError,
  OAuthAuthorizationServer as TheServer,
} from '@cloudflare/workers-oauth-provider'

/** What the library stores with: Cloudflare's KV, as far as it is used. */
export interface LibraryStore {
  get(key: string, options?: { readonly type?: string }): Promise<unknown>
  put(
    key: string,
    value: string,
    options?: { readonly expirationTtl?: number; readonly expiration?: number },
  ): Promise<void>
  delete(key: string): Promise<void>
  list(options: { readonly prefix: string }): Promise<{
    readonly keys: readonly { readonly name: string }[]
    readonly list_complete: true
  }>
}

export interface LibraryEnv {
  readonly OAUTH_KV: LibraryStore
}

/** A checked authorization request. */
export interface AuthorizationRequest {
  readonly responseType: string
  readonly clientId: string
  readonly redirectUri: string
  readonly scope: readonly string[]
  readonly state: string
  readonly codeChallenge?: string
  readonly codeChallengeMethod?: string
  readonly resource?: string
  readonly issuer?: string
}

/** `client:<id>` in the store. */
export interface ClientRecord {
  readonly clientId: string
  readonly redirectUris: readonly string[]
  readonly clientName?: string
  readonly clientUri?: string
  readonly grantTypes?: readonly string[]
  readonly responseTypes?: readonly string[]
  readonly tokenEndpointAuthMethod: string
  /** Seconds since the epoch. */
  readonly registrationDate?: number
  readonly registrationExpiresAt?: number
}

/** `grant:<user>:<id>` in the store. */
export interface GrantRecord {
  readonly id: string
  readonly clientId: string
  readonly userId: string
  readonly scope: readonly string[]
  readonly metadata: unknown
  /** Seconds since the epoch. */
  readonly createdAt: number
  readonly expiresAt?: number
  readonly refreshTokenId?: string
}

export interface LibraryHelpers {
  /** @throws AuthorizationError for a request that is refused. */
  parseAuthRequest(request: Request): Promise<AuthorizationRequest>
  lookupClient(clientId: string): Promise<ClientRecord | null>
  completeAuthorization(options: {
    readonly request: AuthorizationRequest
    readonly userId: string
    readonly metadata: unknown
    readonly scope: readonly string[]
    readonly props: unknown
    readonly revokeExistingGrants: false
  }): Promise<{ readonly redirectTo: string }>
}

export interface Validated {
  readonly props: unknown
  readonly audience: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
  readonly scope: readonly string[]
  readonly userId: string
  readonly clientId: string
}

/** An error response of the token or registration endpoint. */
export interface LibraryFailure {
  readonly code: string
  readonly status: number
  readonly internal?: { readonly category: string; readonly reason: string }
}

export interface LibraryServer {
  fetch(request: Request, env: LibraryEnv, context: object): Promise<Response>
  getOAuthApi(env: LibraryEnv): LibraryHelpers
  validateToken(resource: string, token: string, env: LibraryEnv): Promise<Validated | null>
}

export interface LibraryOptions {
  readonly issuer: string
  readonly resources: readonly string[]
  readonly scopesSupported: readonly string[]
  readonly authorizeEndpoint: string
  readonly tokenEndpoint: string
  readonly clientRegistrationEndpoint: string
  /** Seconds. */
  readonly accessTokenTTL: number
  readonly refreshTokenTTL: number
  readonly refreshTokenIdleTTL: number
  readonly clientRegistrationTTL: number
  onError(failure: LibraryFailure): void
}

export interface AuthorizationErrorLike extends Error {
  readonly code: string
  readonly description: string
  /** Undefined: the browser must not be sent to the client. */
  readonly redirectTo?: string
}

export const OAuthAuthorizationServer = TheServer as unknown as new (options: LibraryOptions) => LibraryServer
export const AuthorizationError = TheError as unknown as new (...given: never[]) => AuthorizationErrorLike
export const authorizationErrorRedirect = redirect as unknown as (
  request: AuthorizationRequest,
  code: string,
  description?: string,
) => string
