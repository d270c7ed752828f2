/** For one line of a terminal, and for a text of several lines. */
export {
  escapeUnprintable as printable,
  escapeUnprintableLines as printableLines,
} from '../../src/definition/unprintable.ts'

/** A failure that the user can fix: the CLI prints its message on one line, without a stack, and exits with 1. A build has a line per error. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: number = 1
  readonly lines: readonly string[]

  constructor(message: string | readonly string[]) {
    const lines = [message].flat()
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** An invalid command line: exit code 2. */
export class UsageError extends CliError {
  override name = 'UsageError'
  override readonly exitCode = 2
}
