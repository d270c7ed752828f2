/** Makes a server's text safe for people to read, in errors and on consoles. */

/** Characters that control a terminal, or that make text look like other text. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text on one line, with control characters as `\u001b`, truncated to about `maxLength` characters. */
export function printable(text: string, maxLength = 1000): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return escaped(cut.replaceAll(/\s+/g, ' '))
}

/** A text of several lines with the other control characters escaped. */
export function printableLines(text: string): string {
  return text.split('\n').map(escaped).join('\n')
}

function escaped(text: string): string {
  return text.replaceAll(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
