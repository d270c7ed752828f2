/** The identity provider that people sign in with, such as Google: sign-in asks it who somebody is. */

/**
 * An identity provider. `google`, `github`, `entra`, `cognito` and `oidc` make one. One of your own must verify all that it returns: who it
 * names is signed in. Each call of it ends after 12 seconds, a refresh after 65; errors other than the two that are named count as unavailable.
 */
export interface Upstream {
  /** For people, such as `Google`. */
  readonly name: string
  /** For records, such as `google`: lower-case letters, digits and hyphens. */
  readonly id: string
  /** What it is asked for, which the page of the question shows (MCP 2026-07-28, "Security Best Practices"). Undefined: nothing to show. */
  readonly scopes?: readonly string[]
  /**
   * The URL that the browser is sent to.
   *
   * @throws UpstreamUnavailableError if the provider's metadata cannot be read.
   */
  authorizeUrl(request: UpstreamStart): Promise<string>
  /**
   * Exchanges the code for the person's identity. `parameters` are those of the callback.
   *
   * @throws UpstreamRefusedError if the code is not accepted or the person is not let in: 30 a minute of one address reach the provider.
   * UpstreamUnavailableError if the provider does not answer.
   */
  exchange(request: UpstreamReturn): Promise<UpstreamIdentity>
  /**
   * Gets new tokens, with `issuer` and `subject` if the answer says whose they are (OpenID Connect Core §12.2): those of another person end
   * the connection. Undefined: the provider issues no refresh tokens.
   *
   * @throws UpstreamRefusedError if the refresh token was revoked, or the person may no longer sign in; UpstreamUnavailableError if the provider does not answer.
   */
  refresh?(request: {
    readonly env: unknown
    readonly refreshToken: string
  }): Promise<UpstreamTokens & Partial<Pick<UpstreamIdentity, 'issuer' | 'subject'>>>
  /** A page of its own at the URL of the callback, to answer before anything else. Undefined: the request is the callback. */
  page?(request: { readonly env: unknown; readonly url: URL }): UpstreamPage | undefined
  /** What an operator must set in `env`, for `mayfly doctor`. Undefined: nothing. */
  faultIn?(env: unknown): string | undefined
  /**
   * The URL of its OpenID metadata, for `mayfly doctor --online`, which asks only a provider that has it or is GitHub. Default: it has none.
   *
   * @throws UpstreamFault for what is not set.
   */
  metadataUrl?(env: unknown): string
}

/** "Who are you?", as `WhoPage` shows it. */
export interface UpstreamPage {
  readonly action: string
  readonly fields: { readonly [name: string]: string }
  readonly cancelUrl: string
}

/** A sign-in that begins. */
export interface UpstreamStart {
  /** The platform's environment: variables and bindings. */
  readonly env: unknown
  /** The URL of the callback, which the operator registers with the provider. */
  readonly redirectUri: string
  /** Returned unchanged by the provider: sign-in compares it. */
  readonly state: string
  /** For the ID token (OpenID Connect Core §3.1.2.1). */
  readonly nonce: string
  /** S256 (RFC 7636). */
  readonly codeChallenge: string
  /** Whether the person asked for another account than the one that the provider remembers. Default false. */
  readonly isSwitching?: boolean
}

/** A person who comes back from the provider: `state` and the browser have been checked. */
export interface UpstreamReturn {
  /** The platform's environment: variables and bindings. */
  readonly env: unknown
  /** That of the start. */
  readonly redirectUri: string
  readonly code: string
  /** Of which the provider has the S256 challenge (RFC 7636). */
  readonly codeVerifier: string
  /** That of the start: an ID token must have it. */
  readonly nonce: string
  /** Of the callback, such as `iss` (RFC 9207). */
  readonly parameters: URLSearchParams
}

/** The provider's tokens of a person: encrypted in the store, and never seen by clients. */
export interface UpstreamTokens {
  readonly accessToken: string
  /** Undefined: there is none or, after a refresh, the one before stays valid. */
  readonly refreshToken?: string | undefined
  /** Milliseconds since the epoch. Undefined: unknown. */
  readonly expiresAt?: number | undefined
  readonly scopes?: readonly string[] | undefined
}

/** Who somebody is, as the provider vouches for it. */
export interface UpstreamIdentity {
  /** The provider's issuer URL. With `subject`, it is who somebody is. */
  readonly issuer: string
  /** The provider's identifier of the person, which never changes. */
  readonly subject: string
  /** For people. */
  readonly name?: string | undefined
  /** Only one that the provider has verified. */
  readonly email?: string | undefined
  /** What tools see as `ctx.auth.claims`: JSON. Of more than 8192 characters, some are left out, which the log says once. */
  readonly claims: { readonly [name: string]: unknown }
  readonly tokens: UpstreamTokens
}

/** What went wrong with a provider, for the operator: its message goes to the log, and contains no secret. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault'
  readonly code: UpstreamFaultCode
  /** Of the token endpoint's answer, if it was not 200 and said nothing else. */
  readonly status: number | undefined
  constructor(code: UpstreamFaultCode, message: string, status?: number) {
    super(message)
    this.code = code
    this.status = status
  }
}

export type UpstreamFaultCode =
  /** The person or the provider refused. */
  | 'denied'
  /** Not of the domain, organization, tenant or group. */
  | 'not_allowed'
  /** The callback came from another provider (RFC 9207). */
  | 'issuer_mismatch'
  /** The ID token is not genuine, not for this client, not of this sign-in or expired. */
  | 'id_token_invalid'
  /** The code or the refresh token is not accepted. */
  | 'grant_refused'
  /** The client id, its secret or an option is missing or wrong. */
  | 'misconfigured'
  /** No answer in time, or none at all. */
  | 'unreachable'
  /** An answer that is too large, redirects, or is not what the standard says. */
  | 'answer_invalid'

/**
 * The person is not let in. The message is a sentence for the page, such as "Only accounts of example.com may sign in."; the `cause` is for
 * the operator's log.
 */
export class UpstreamRefusedError extends Error {
  override readonly name = 'UpstreamRefusedError'
  readonly code = 'upstream_refused'
}

/** The provider cannot be used at the moment. The message is a sentence for the page; the `cause` is for the operator's log. */
export class UpstreamUnavailableError extends Error {
  override readonly name = 'UpstreamUnavailableError'
  readonly code = 'upstream_unavailable'
}
