/**
 * The sender of a request as one string: sealed states, sessions and rate limits are bound to it.
 */
import type { AuthInfo } from '../definition/context.ts'

/** The token's client and subject; empty for an anonymous caller. As JSON, since either part may contain any separator. */
export function principalOf({ auth }: { readonly auth: AuthInfo | undefined }): string {
  return auth === undefined ? '' : JSON.stringify([auth.clientId, String(auth.extra?.sub ?? '')])
}
