/** A failure that the user can fix: the CLI prints its message on one line, without a stack, and exits with 1. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: number = 1
}

/** An invalid command line: exit code 2. */
export class UsageError extends CliError {
  override name = 'UsageError'
  override readonly exitCode = 2
}

/** A string for one line of a terminal: escapes control characters. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
