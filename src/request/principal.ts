/**
 * The sender of a request as one string: sealed states, sessions and rate limits are bound to it.
 */
import type { AuthInfo } from '../definition/context.ts'

/**
 * The token's client and subject, and who vouches for them where several may; empty for an anonymous caller. As JSON, since each part may
 * contain any separator.
 */
export function principalOf({ auth }: { readonly auth: AuthInfo | undefined }): string {
  if (auth === undefined) return ''
  const { clientId, extra, realm } = auth
  const subject = String(extra?.sub ?? auth.subject ?? '')
  return JSON.stringify(realm === undefined ? [clientId, subject] : [clientId, subject, realm])
}
