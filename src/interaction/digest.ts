/** A hash as a name for content: equal content has equal names, and collisions cannot be found. */
import { toBase64Url } from '../definition/base64.ts'

/** SHA-256 as base64url, 43 characters. */
export async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return toBase64Url(new Uint8Array(bytes))
}
