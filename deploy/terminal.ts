/** What a command tells the person at the terminal: on stderr, as stdout is for what scripts read. */

let isQuiet = false

export const terminal = {
  /** From now on warnings, errors and the output of other programs alone are shown: `--quiet`. */
  beQuiet(): void {
    isQuiet = true
  },

  /** One line of what is done, or could be done. */
  note(line: string): void {
    if (!isQuiet) process.stderr.write(`mayfly: ${line}\n`)
  },

  /** Several lines as they are, under the same rule as a note. */
  show(text: string): void {
    if (!isQuiet) process.stderr.write(text)
  },

  /** One line of what is wrong, or will be. */
  warn(line: string): void {
    process.stderr.write(`mayfly: ${line}\n`)
  },

  /** What another program said, as it is; also what is asked. */
  pass(text: string): void {
    process.stderr.write(text)
  },
}
