/** Messages of a command for the user: on stderr, since scripts read stdout. */

import { printable } from './cli-error.ts'

let isQuiet = false

/** A message may quote a name, a path or another program, and may have several lines. */
const toPrintable = (message: string): string => message.replaceAll(/[^\n]+/g, printable)

export const terminal = {
  /** `--quiet`: from now on shows only warnings, errors and the output of other programs. */
  beQuiet(): void {
    isQuiet = true
  },

  /** One line about what happens or could be done. */
  note(line: string): void {
    if (!isQuiet) process.stderr.write(`mayfly: ${toPrintable(line)}\n`)
  },

  /** Several lines, unchanged. Hidden like a note. */
  show(text: string): void {
    if (!isQuiet) process.stderr.write(text)
  },

  /** One line about an error or a risk. */
  warn(line: string): void {
    process.stderr.write(`mayfly: ${toPrintable(line)}\n`)
  },

  /** The output of another program, unchanged, and prompts for the user. */
  pass(text: string): void {
    process.stderr.write(text)
  },
}
