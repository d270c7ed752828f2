/** A failure that the user can act on: the CLI prints its message as one line, without a stack, and exits with 1. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: number = 1
}

/** A wrong command line: exit code 2. */
export class UsageError extends CliError {
  override name = 'UsageError'
  override readonly exitCode = 2
}

/** A name or a path for one line of a terminal: control characters in it become escapes. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
