/** Makes a server's text safe for people to read, in errors and on consoles. */
import { escapeUnprintable } from '../definition/unprintable.ts'

export { escapeUnprintableLines as printableLines } from '../definition/unprintable.ts'

/** The text on one line, with control characters as `\u001b`, truncated to about `maxLength` characters. */
export function printable(text: string, maxLength = 1000): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return escapeUnprintable(cut.replaceAll(/\s+/g, ' '))
}
