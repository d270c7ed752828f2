/**
 * Tokens that a function of one's own checks.
 */
import type { Auth } from './auth.ts'
import { createGate, type GateOptions } from './gate.ts'
import { InvalidTokenError, type VerifiedToken, type Verifier } from './verifier.ts'

/** Resolves with what the token says; undefined, null or false for a token that is not good. */
export type VerifyToken = (
  token: string,
  context: { env: unknown; resource: string; request: Request },
) => Promise<VerifiedToken | undefined | null | false> | VerifiedToken | undefined | null | false

export interface BearerOptions extends GateOptions {
  /** Issuer URLs, for clients to find where tokens come from. Default none. */
  authorizationServers?: readonly string[]
}

/**
 * Any way of checking a token. The function must check that the token was issued for this server (`resource`): nothing else does.
 *
 * ```ts
 * bearer(async (token) => (token === process.env.TOKEN ? { clientId: 'ci', scopes: [] } : undefined))
 * ```
 */
export function bearer(verify: VerifyToken, options: BearerOptions = {}): Auth {
  if (typeof verify !== 'function') throw new TypeError('bearer needs a function that checks a token.')
  const verifier: Verifier = {
    authorizationServers: options.authorizationServers ?? [],
    verify: async (token, context) => {
      const verified = await verify(token, context)
      if (!verified) throw new InvalidTokenError('The token is not valid.')
      return verified
    },
  }
  return createGate(verifier, options)
}
