/** What a secret of an operator must be: long enough, and random as far as that can be seen. */

/** Minimum characters of a secret that seals, signs or opens an endpoint. */
export const MIN_SECRET_CHARACTERS = 32

/** What makes one. */
export const MAKE_SECRET = 'openssl rand -base64 32'

/**
 * What is wrong with a secret, as the end of a sentence that names it; undefined for a good one. It never contains the secret.
 *
 * Blanks around a secret do not count. One of `characters` has at least a quarter as many different ones, and does not repeat a pattern of up to 16. Of a million random ones in
 * hexadecimal, none is refused.
 *
 * @param characters Minimum. Default 32.
 */
export function secretFault(secret: unknown, characters: number = MIN_SECRET_CHARACTERS): string | undefined {
  const remedy = `generate one, for example with "${MAKE_SECRET}".`
  if (typeof secret !== 'string' || secret.trim() === '')
    return `must have at least ${characters} characters: is the variable that it comes from set?`
  const measured = secret.trim()
  if (measured.length < characters) return `must have at least ${characters} characters: ${remedy}`
  return isRepetitive(measured, characters)
    ? `must be random, not a few characters that are repeated: ${remedy}`
    : undefined
}

/** Whether it has too few different characters or bytes, or is a short pattern that is repeated. @param length The minimum of its kind. */
export function isRepetitive(secret: Readable, length: number): boolean {
  return new Set(secret).size < length / 4 || hasPeriod(secret)
}

/** A string, or bytes. */
type Readable = ArrayLike<string | number> & Iterable<string | number>

/** Longest pattern that is looked for. */
const MAX_PERIOD = 16

function hasPeriod(text: Readable): boolean {
  for (let period = 1; period <= MAX_PERIOD && period <= text.length / 2; period += 1) {
    let at = period
    while (at < text.length && text[at] === text[at - period]) at += 1
    if (at === text.length) return true
  }
  return false
}
