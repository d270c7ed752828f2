/** The one filter for text that a terminal, a log or a person reads. */

/**
 * Characters that control a terminal, are invisible, or make text look like other text: control and format characters (bidirectional ones,
 * too), line separators, lone surrogates, private use, and what renderers may ignore.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Replaces them by escapes such as `\u001b`, one for each UTF-16 code unit. In JSON text, parsing returns the same value. */
export function escapeUnprintable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}

/** The same for a text of several lines, which stay lines. */
export function escapeUnprintableLines(text: string): string {
  return text.split('\n').map(escapeUnprintable).join('\n')
}
