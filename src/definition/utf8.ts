/** Lengths in UTF-8. */

const encoder = new TextEncoder()

/** Maximum UTF-8 bytes of a UTF-16 code unit. */
const MAX_BYTES_A_UNIT = 3

export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

/** The bytes of a string that has more than `maxBytes`; undefined if it fits. Most strings are short enough to skip the encoding. */
export function bytesOver(value: string, maxBytes: number): number | undefined {
  if (value.length * MAX_BYTES_A_UNIT <= maxBytes) return undefined
  const bytes = utf8Length(value)
  return bytes > maxBytes ? bytes : undefined
}
