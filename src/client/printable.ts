/** Text of a server's, where a person reads it: in errors and on consoles. */

/** Characters that a terminal obeys, or that make text look like other text. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** On one line, with control characters as `\u001b`, and no longer than about `maxLength` characters. */
export function printable(text: string, maxLength = 1000): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return cut
    .replaceAll(/\s+/g, ' ')
    .replaceAll(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
