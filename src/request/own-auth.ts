/** The caller as given to the code of tools: each call gets a copy, since a verifier may return the same object for many requests. */
import type { AuthInfo } from '../definition/context.ts'
import { ownData } from '../definition/own-data.ts'

/**
 * Copies a caller: its scopes, and the plain data in `extra` at every depth. Instances of classes and functions stay the same objects.
 * What one call changes in its copy is in no other call, and changes nobody's access.
 */
export function ownAuth(auth: AuthInfo): AuthInfo {
  const { scopes, extra, claims } = auth
  return withMembers(auth, {
    scopes: [...scopes],
    ...(claims !== undefined && { claims: ownData(claims) as Record<string, unknown> }),
    ...(extra !== undefined && { extra: ownData(extra) as Record<string, unknown> }),
  })
}

/** A caller with other members, which keeps the method. */
export function withMembers<Own extends Partial<AuthInfo>, Members extends object>(
  auth: Own,
  members: Members,
): Own & Members {
  return withUpstreamToken({ ...auth, ...members }, auth.upstreamToken)
}

/** Copies the method, which is hidden: what code makes of a caller (a spread, JSON, a structured clone, a line of a log) does not have it. */
export function withUpstreamToken<Own extends object>(
  own: Own,
  value: AuthInfo['upstreamToken'] | undefined,
): Own {
  if (typeof value === 'function') Object.defineProperty(own, 'upstreamToken', { value, configurable: true })
  return own
}
