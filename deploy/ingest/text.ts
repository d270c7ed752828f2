/** Bytes of a document as text. */

/** Of one document. */
const MAX_BYTES = 10_000_000

/** In UTF-8, in UTF-16 with a byte order mark, or in `charset`. Throws `Error` for what is too large, or no text. */
export function toText(bytes: Uint8Array, charset?: string): string {
  checkBytes(bytes.length)
  const text = decode(
    bytes,
    charset ?? (bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8'),
  )
  // Some databases store no NUL, which is in no text either.
  if (text === undefined || text.includes('\0')) throw new Error('it is no text in UTF-8')
  return text
}

export function checkBytes(count: number): void {
  if (count > MAX_BYTES) throw new Error(`it has over ${MAX_BYTES} bytes`)
}

/** Without the byte order mark. Undefined for bytes of another encoding, and for one that this runtime lacks. */
function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
