/**
 * The access of a caller with scopes.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Access } from '../request/access.ts'
import { bearerChallenge } from './challenge.ts'

/** A caller with a token may use everything whose scopes the token has. `baseScopes`: required by the whole server. */
export function createScopedAccess(
  granted: readonly string[],
  baseScopes: readonly string[],
  metadataUrl: () => string | undefined,
): Access {
  return {
    isAnonymous: false,
    isKnown: true,
    allows: ({ scopes = [] }) => scopes.every((scope) => granted.includes(scope)),
    refusal: ({ kind, name, scopes = [] }) => {
      const needed = union(baseScopes, scopes)
      const challenge = { metadataUrl: metadataUrl(), scopes: needed, error: 'insufficient_scope' as const }
      return new ProtocolError(
        ErrorCode.invalidRequest,
        `Forbidden: ${kind} ${name} needs the ${describeScopes(scopes)}.`,
        { requiredScopes: scopes },
        { status: 403, headers: { 'www-authenticate': bearerChallenge(challenge) } },
      )
    },
  }
}

export function describeScopes(scopes: readonly string[]): string {
  return `${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(' ')}`
}

/** A challenge includes the base scopes: a client that requests exactly these scopes would otherwise lose them. */
export function union(baseScopes: readonly string[], scopes: readonly string[]): string[] {
  return [...new Set([...baseScopes, ...scopes])]
}
