/**
 * What a caller may use who has scopes.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Access } from '../request/access.ts'
import { bearerChallenge } from './challenge.ts'

/** A caller with a token may use what needs no scope, or scopes that the token has. `baseScopes`: what the whole server needs. */
export function createScopedAccess(
  granted: readonly string[],
  baseScopes: readonly string[],
  metadataUrl: () => string | undefined,
): Access {
  return {
    isAnonymous: false,
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

/** A challenge names what every call needs, too: a client that asks for just what it is told would lose the rest. */
export function union(baseScopes: readonly string[], scopes: readonly string[]): string[] {
  return [...new Set([...baseScopes, ...scopes])]
}
