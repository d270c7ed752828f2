/**
 * The interface of verifiers, and the errors with which a check can fail.
 */
import type { ResourceLocation } from './auth.ts'

/** The identity of a verified token. */
export interface VerifiedToken {
  /** The client that it was issued to. Default: the subject, otherwise a name derived from the token, `token-…`. */
  clientId?: string
  /** A list, or a string separated by spaces. Default: none. */
  scopes?: readonly string[] | string
  /** Seconds since the epoch; a `Date` or milliseconds are also accepted. Default: it does not expire. */
  expiresAt?: number | Date
  /** The resource that it was issued for (RFC 8707). */
  resource?: URL
  /** The user, `ctx.auth.subject`, which distinguishes users of one client. Default: `sub`, also that of `extra`. */
  subject?: string
  /** What is known about the caller, `ctx.auth.claims`. */
  claims?: Record<string, unknown>
  /** Further data, `ctx.auth.extra`. */
  extra?: Record<string, unknown>
}

/**
 * What a verifier returns. For a valid token: at least a client, a subject or a positive verdict. For an invalid one: `undefined`,
 * `null`, `false` or `{ valid: false }`. Other common names (RFC 7662 §2.2) are recognized; all further members are put into `extra`.
 */
export type TokenAnswer =
  | (VerifiedToken & {
      sub?: string
      scope?: string
      exp?: number
      [member: string]: unknown
    } & (
        | { clientId: string }
        | { client_id: string }
        | { sub: string }
        | { subject: string }
        | { extra: { sub: string } }
        | { valid: boolean }
        | { active: boolean }
      ))
  | undefined
  | null
  | false

/** Checks tokens. `createGate` makes an `Auth` of it. */
export interface Verifier {
  /**
   * Resolves with the token's identity, if it is genuine, current and meant for this server. Reading `resource` throws if it comes only
   * from the caller's `Host` header; the caller is then refused.
   *
   * @throws InvalidTokenError if the token is invalid; VerifierUnavailableError if the issuer does not answer.
   */
  verify(token: string, context: TokenContext): Promise<TokenAnswer>
  /** Issuer URLs, for the protected resource metadata; a function, if they depend on the server's own URL. */
  readonly authorizationServers: readonly string[] | ((location: ResourceLocation) => readonly string[])
  /** A header that the platform sets, if the token is not in `Authorization`. */
  readonly header?: string
  /** A header that may also have the token, by itself; where it is sent, `Authorization` is not read. Default: none. */
  readonly keyHeader?: string
  /** Who vouches for its callers, for `anyOf`: the issuer's URL, or a name for the kind of callers. Default: its place in the list. */
  readonly realm?: string
  /** Seconds after its expiry for which a token is accepted. Default 0. */
  readonly clockToleranceSeconds?: number
}

/** What a verifier receives besides the token. */
export interface TokenContext {
  readonly env: unknown
  /** The URL of this server, as the operator or the platform names it; tokens must be issued for it. */
  readonly resource: string
  /** The `id` of the server; undefined for `fromSdk`, `fromNode` and `honoAuth`. */
  readonly server?: string | undefined
  readonly request: Request
  /** Keeps the invocation alive for work after the answer, where the platform can. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/**
 * The token is invalid: the client receives 401 with this message as `error_description` (RFC 6750 §3). A `cause` is written to the
 * server's log, once.
 */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError'
  readonly code = 'invalid_token'
}

/** The verifier does not know the token, which another one may: see `anyOf`. */
export class UnknownTokenError extends InvalidTokenError {
  constructor(message = 'The token is not valid.', options?: ErrorOptions) {
    super(message, options)
  }
}

/** The issuer cannot be reached: the client receives 503, and the server's log the cause. */
export class VerifierUnavailableError extends Error {
  override readonly name: string = 'VerifierUnavailableError'
  readonly code = 'verifier_unavailable'
}

/** The issuer failed shortly before, which is already logged. */
export class KnownOutageError extends VerifierUnavailableError {}

/** A verifier needs the URL of this server, but only the caller's `Host` header names it. */
export class UnknownResourceError extends VerifierUnavailableError {
  override readonly name = 'UnknownResourceError'
  constructor() {
    super(
      'Tokens are compared with the URL of this server, which is unknown: set http.publicUrl, or put its host (and port) in http.allowedHosts or MAYFLY_ALLOWED_HOSTS.',
    )
  }
}

/** The verifier returned something that is not an identity: the client receives 401, and the server's log this error, once. */
export class VerifierMisconfiguredError extends Error {
  override readonly name = 'VerifierMisconfiguredError'
  readonly code = 'verifier_misconfigured'
}
