/** Tokens checked by a user's function. */
import { refuseUnknown } from '../definition/unknown-option.ts'
import type { Auth } from './auth.ts'
import { toGate } from './gate.ts'
import { GATE_OPTIONS, type GateOptions } from './gate-options.ts'
import type { TokenAnswer, TokenContext, Verifier } from './verifier.ts'

/**
 * Resolves with the token's identity; with undefined, null, false or `{ valid: false }` for an invalid token. Anything else (`true`, `{}`)
 * is refused, and reported once.
 */
export type VerifyToken = (token: string, context: TokenContext) => Promise<TokenAnswer> | TokenAnswer

/** Options of `bearer`. */
export interface BearerOptions extends GateOptions {
  /** Issuer URLs, so that clients know where to get tokens. Default: none. */
  authorizationServers?: readonly string[]
}

/**
 * Checks tokens with your own function. The function must check that the token was issued for this server (`resource`); nothing else checks
 * it.
 *
 * ```ts
 * bearer(async (token, { env }) => (token === env.TOKEN ? { clientId: 'ci', scopes: [] } : undefined))
 * ```
 *
 * @throws TypeError if `verify` is not a function, and for invalid options.
 */
export function bearer(verify: VerifyToken, options: BearerOptions = {}): Auth {
  if (typeof verify !== 'function') throw new TypeError('bearer needs a function that checks a token.')
  refuseUnknown('bearer', options, GATE_OPTIONS)
  const verifier: Verifier = {
    authorizationServers: options.authorizationServers ?? [],
    realm: 'bearer',
    verify: async (token, context) => verify(token, context),
  }
  return toGate(verifier, options)
}
