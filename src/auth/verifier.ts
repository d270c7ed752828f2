/**
 * Who checks a token, and how a check can fail.
 */
import type { AuthInfo } from '../definition/context.ts'

/** A token that was checked. */
export interface VerifiedToken extends Omit<AuthInfo, 'token'> {}

export interface Verifier {
  /**
   * Resolves with what the token says, when it is genuine, current and meant for this server.
   *
   * @throws InvalidTokenError when it is not; VerifierUnavailableError when nobody can be asked.
   */
  verify(token: string, context: { env: unknown; resource: string; request: Request }): Promise<VerifiedToken>
  /** Issuer URLs, for the protected resource metadata. */
  readonly authorizationServers: readonly string[]
  /** Where the token is, when not in `Authorization`: a header that the platform itself sets. */
  readonly header?: string
}

/** The token is refused: the client gets 401 and this message as `error_description` (RFC 6750 §3). */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError'
  readonly code = 'invalid_token'
}

/** Whoever would have to be asked cannot be: the client gets 503, and the server's log the cause. */
export class VerifierUnavailableError extends Error {
  override readonly name = 'VerifierUnavailableError'
  readonly code = 'verifier_unavailable'
}
