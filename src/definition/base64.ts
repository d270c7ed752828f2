/**
 * Base64 and base64url (RFC 4648 §4, §5) over the platform's `btoa` and `atob`.
 */

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  // In slices: spreading a large array overflows the call stack.
  for (let start = 0; start < bytes.length; start += 4096) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 4096))
  }
  return btoa(binary)
}

/** @throws DOMException for text that is not Base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  // `Uint8Array.from` takes five times as long for each byte of a long text.
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** Without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Unguessable: `bytes` random bytes in base64url. */
export function randomBase64Url(bytes: number): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)))
}

/** Strict: each byte sequence has one valid spelling, so every changed character is noticed. Undefined for any other text. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
    return toBase64Url(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}
