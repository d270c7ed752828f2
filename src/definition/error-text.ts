/** The text of any thrown value. Some values have no text: an object without a prototype, or with a `toString` that throws. */
export function textOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : thrown
    return String(text)
  } catch {
    return 'An error without a text.'
  }
}

/** The stack, if it exists and can be read. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : undefined
  } catch {
    return undefined
  }
}

/** Shortens a text, so that callers cannot fill a log. */
export function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`
}
