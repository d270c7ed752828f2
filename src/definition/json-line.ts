/** JSON for a console, which may be a terminal. */

/** Characters that JSON does not escape: terminal controls (C1, DEL), bidirectional controls, and line ends. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** The value as one line of JSON, with control characters escaped. Parsing returns the same value. */
export function toJsonLine(value: object): string {
  return JSON.stringify(value).replaceAll(UNSAFE, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
