/** JSON for a console, which may be a terminal. */

/** What JSON leaves as it is: characters that control a terminal (C1, DEL), that turn text around, or that end a line. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** The value as one line of JSON, with control characters escaped; parsed, it is the same. */
export function toJsonLine(value: object): string {
  return JSON.stringify(value).replaceAll(UNSAFE, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
