/** A failure that the user can act on: the CLI prints its message as one line, without a stack, and exits with 1. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: number = 1
}

/** A command line that makes no sense: exit code 2. */
export class UsageError extends CliError {
  override name = 'UsageError'
  override readonly exitCode = 2
}
