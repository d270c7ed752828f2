/** A hash as a name for content: equal content has equal names, and collisions cannot be found. */
import { toBase64Url } from './base64.ts'

/** SHA-256 of the text in UTF-8: 32 bytes. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** SHA-256 as base64url, 43 characters. */
export function digest(text: string): Promise<string> {
  return sha256(text).then(toBase64Url)
}
