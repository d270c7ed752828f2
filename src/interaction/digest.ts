/**
 * A hash as a name for content: equal texts have equal names, and no two different texts with one name can be found.
 */
import { toBase64Url } from '../definition/base64.ts'

/** SHA-256 as base64url, 43 characters. */
export async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return toBase64Url(new Uint8Array(bytes))
}
