/** A hash as a name for content: equal content has equal names, and collisions cannot be found. */
import { toBase64Url } from './base64.ts'

/** SHA-256 of the text in UTF-8: 32 bytes. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** Compares every byte, so that the time does not depend on the first difference. */
export function isSameDigest(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) difference |= a[index]! ^ b[index]!
  return difference === 0
}

/** SHA-256 as base64url, 43 characters. */
export function digest(text: string): Promise<string> {
  return sha256(text).then(toBase64Url)
}
