/** A failure that the user can act on: the CLI prints its message as one line, without a stack, and exits with 1. */
export class CliError extends Error {
  override name = 'CliError'
}
