/**
 * Tokens that a function of one's own checks.
 */
import type { Auth } from './auth.ts'
import { createGate } from './gate.ts'
import type { GateOptions } from './gate-options.ts'
import type { TokenAnswer, TokenContext, Verifier } from './verifier.ts'

/**
 * Resolves with what the token says; undefined, null, false or `{ valid: false }` for a token that is not good. Anything else that
 * is no identity (`true`, `{}`) is refused, and reported once.
 */
export type VerifyToken = (token: string, context: TokenContext) => Promise<TokenAnswer> | TokenAnswer

export interface BearerOptions extends GateOptions {
  /** Issuer URLs, for clients to find where tokens come from. Default none. */
  authorizationServers?: readonly string[]
}

/**
 * Any way of checking a token. The function must check that the token was issued for this server (`resource`): nothing else does.
 *
 * ```ts
 * bearer(async (token, { env }) => (token === env.TOKEN ? { clientId: 'ci', scopes: [] } : undefined))
 * ```
 */
export function bearer(verify: VerifyToken, options: BearerOptions = {}): Auth {
  if (typeof verify !== 'function') throw new TypeError('bearer needs a function that checks a token.')
  const verifier: Verifier = {
    authorizationServers: options.authorizationServers ?? [],
    verify: async (token, context) => verify(token, context),
  }
  return createGate(verifier, options)
}
