/**
 * Who a request comes from, as one text: what is sealed, kept in a session or counted belongs to it.
 */
import type { AuthInfo } from '../definition/context.ts'

/** The token's client and subject; empty for an anonymous caller. As JSON: either part may hold any separator. */
export function principalOf({ auth }: { readonly auth: AuthInfo | undefined }): string {
  return auth === undefined ? '' : JSON.stringify([auth.clientId, String(auth.extra?.sub ?? '')])
}
