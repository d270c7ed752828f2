/**
 * The text of an API key: `mk_<id>_<secret><checksum>`, in letters and digits, so that a double click selects all of it. The id finds the
 * key in a store, 30 random characters (178 bits) are the secret, and the checksum tells a mistyped key, and a scanner that it found one.
 */

/** A key, for scanners of secrets. */
const KEY = /^mk_([0-9A-Za-z]{12})_[0-9A-Za-z]{30}([0-9A-Za-z]{6})$/
const ID = /^[0-9A-Za-z]{12}$/
const CHECKSUM_CHARACTERS = 6

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A new key. Its id is not known to any store. */
export function createKeyText(): { readonly id: string; readonly text: string } {
  const id = randomText(12)
  const text = `mk_${id}_${randomText(30)}`
  return { id, text: text + checksumOf(text) }
}

/** The id of a key. Undefined for any other text, and for a key with a wrong checksum. */
export function keyIdOf(text: string): string | undefined {
  const [, id, checksum] = KEY.exec(text) ?? []
  return checksum === checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) ? id : undefined
}

/** The id in `id`, `mk_id` or a whole key, also with a wrong checksum. */
export function idWithin(text: string): string | undefined {
  const id = /^mk_([^_]+)/.exec(text)?.[1] ?? text
  return ID.test(id) ? id : undefined
}

/** Each character is equally likely: bytes from 248 on are drawn again. */
function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(2 * length)))
      if (byte < 248 && text.length < length) text += DIGITS[byte % 62]
  }
  return text
}

/** CRC-32 (ISO 3309) in base 62, as at the end of GitHub's tokens. */
function checksumOf(text: string): string {
  let crc = -1
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = ~crc >>> 0
  let digits = ''
  for (let index = 0; index < CHECKSUM_CHARACTERS; index++) {
    digits = DIGITS[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
