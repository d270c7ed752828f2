/**
 * Who checks a token, and how a check can fail.
 */

/** What is known of a token that was checked. */
export interface VerifiedToken {
  /** The client it was issued to. Default: the subject, else a name derived from the token, `token-…`. */
  clientId?: string
  /** Default none. */
  scopes?: readonly string[] | string
  /** Seconds since the epoch; a `Date` and milliseconds are understood. Default: it does not expire. */
  expiresAt?: number | Date
  /** The resource it is for (RFC 8707). */
  resource?: URL
  /** What else is known, `ctx.auth.extra`. `sub` is the user: users of one client are told apart by it. */
  extra?: Record<string, unknown>
}

/**
 * What a verifier answers: a client, a subject or a yes, and what is known of the token; `undefined`, `null`, `false` and
 * `{ valid: false }` say no. Members that have another name elsewhere (RFC 7662 §2.2) are understood, and all others are put into
 * `extra`.
 */
export type TokenAnswer =
  | (VerifiedToken & {
      sub?: string
      subject?: string
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

export interface Verifier {
  /**
   * Resolves with what the token says, when it is genuine, current and meant for this server. Reading `resource` fails where it would
   * be the caller's `Host` header, and the caller is then refused.
   *
   * @throws InvalidTokenError when it is not; VerifierUnavailableError when the issuer does not answer.
   */
  verify(token: string, context: TokenContext): Promise<TokenAnswer>
  /** Issuer URLs, for the protected resource metadata. */
  readonly authorizationServers: readonly string[]
  /** Where the token is, when not in `Authorization`: a header that the platform itself sets. */
  readonly header?: string
  /** Seconds by which a token may be late. Default 0. */
  readonly clockToleranceSeconds?: number
}

export interface TokenContext {
  readonly env: unknown
  /** This server, as the operator or the platform names it: what a token must be for. */
  readonly resource: string
  readonly request: Request
}

/** The token is refused: the client gets 401 and this message as `error_description` (RFC 6750 §3). */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError'
  readonly code = 'invalid_token'
}

/** The issuer cannot be reached: the client gets 503, and the server's log gets the cause. */
export class VerifierUnavailableError extends Error {
  override readonly name: string = 'VerifierUnavailableError'
  readonly code = 'verifier_unavailable'
}

/** Was found unavailable a moment ago, which is in the log already. */
export class KnownOutageError extends VerifierUnavailableError {}

/** A verifier wants to compare with the address of this server, which only its callers have named. */
export class UnknownResourceError extends VerifierUnavailableError {
  override readonly name = 'UnknownResourceError'
  constructor() {
    super(
      'Tokens are compared with the URL of this server, which is not known: set http.publicUrl, or name its host (and port) in http.allowedHosts or MAYFLY_ALLOWED_HOSTS.',
    )
  }
}

/** The verifier answers what is no identity: the client gets 401, and the server's log this, once. */
export class VerifierMisconfiguredError extends Error {
  override readonly name = 'VerifierMisconfiguredError'
  readonly code = 'verifier_misconfigured'
}
