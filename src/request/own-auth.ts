/** The caller as given to the code of tools: each call gets a copy, since a verifier may return the same object for many requests. */
import type { AuthInfo } from '../definition/context.ts'
import { ownData } from '../definition/own-data.ts'

/**
 * Copies a caller: its scopes, and the plain data in `extra` at every depth. Instances of classes and functions stay the same objects.
 * What one call changes in its copy is in no other call, and changes nobody's access.
 */
export function ownAuth(auth: AuthInfo): AuthInfo {
  return {
    ...auth,
    scopes: [...auth.scopes],
    ...(auth.extra !== undefined && { extra: ownData(auth.extra) as Record<string, unknown> }),
  }
}
