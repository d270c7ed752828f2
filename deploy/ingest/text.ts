/** Bytes of a document as text. */

/** The limit for one document. */
const MAX_BYTES = 10_000_000

/** In UTF-8, in UTF-16 with a byte order mark, or in `charset`. Throws `Error` if it is too large or not text. */
export function toText(bytes: Uint8Array, charset?: string): string {
  checkBytes(bytes.length)
  const text = decode(
    bytes,
    charset ?? (bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8'),
  )
  // Text does not contain NUL, and some databases cannot store it.
  if (text === undefined || text.includes('\0')) throw new Error('it is not UTF-8 text')
  return text
}

export function checkBytes(count: number): void {
  if (count > MAX_BYTES) throw new Error(`it has over ${MAX_BYTES} bytes`)
}

/** Without the byte order mark. Undefined for bytes in another encoding, or for an encoding that this runtime lacks. */
function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
