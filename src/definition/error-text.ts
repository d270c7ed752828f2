/**
 * The text of anything that was thrown. Code may throw what has no text: an object without a prototype, a `toString` that throws.
 */
export function textOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : thrown
    return String(text)
  } catch {
    return 'An error that has no text.'
  }
}

/** Its stack, where it has one that can be read. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : undefined
  } catch {
    return undefined
  }
}

/** At most so many characters: a caller chooses what is in many texts, and must not fill a log with them. */
export function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`
}
