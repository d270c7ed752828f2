/** Messages of a command for the user: on stderr, since scripts read stdout. */

import { isA } from '../../src/definition/error-text.ts'
import { CliError, printable, printableLines } from './cli-error.ts'
import { codeFrame } from './code-frame.ts'
import { escapeAround, isColoured, type Meaning, stylesFor } from './styles.ts'

let isQuiet = false
const warned = new Set<string>()

export const terminal = {
  /** `--quiet`: from now on shows only warnings, errors and the output of other programs. */
  beQuiet(): void {
    isQuiet = true
  },

  /** One line about what happens or could be done. */
  note(line: string): void {
    if (!isQuiet) say('dim', line)
  },

  /** Several lines, with `stylesFor(process.stderr)`. Hidden like a note. */
  show(text: string): void {
    if (isQuiet) return
    process.stderr.write(
      isColoured(process.stderr) ? escapeAround(text, printableLines) : printableLines(text),
    )
  },

  /** Whether a person reads on a terminal what `show` writes. */
  get isScreen(): boolean {
    return !isQuiet && isTerminal()
  },

  /** One line about an error or a risk. */
  warn(line: string): void {
    say('warning', line)
  },

  /** An error, which has several lines if a build failed. On a terminal, the source line that each names is below it. */
  fail(error: Error): void {
    const lines = isA(error, CliError) ? error.lines : [error.message]
    say('failure', ...lines.flatMap((line) => [line, ...(isTerminal() ? framed(line) : [])]))
  },

  /** One line over the one that it wrote before. Hidden like a note. */
  redraw(line: string): void {
    if (!isQuiet) process.stderr.write(`\r\u001b[K${printable(line)}`)
  },

  /** The same, only the first time in this process. */
  warnOnce(line: string): void {
    if (!warned.has(line)) terminal.warn(line)
    warned.add(line)
  },

  /** The output of another program, unchanged, and prompts for the user. */
  pass(text: string): void {
    process.stderr.write(text)
  },
}

/** Whether a person reads stderr. */
function isTerminal(): boolean {
  return process.stderr.isTTY === true
}

function framed(line: string): string[] {
  return codeFrame(line)?.split('\n') ?? []
}

function say(meaning: Meaning, ...lines: readonly string[]): void {
  const styles = stylesFor(process.stderr)
  process.stderr.write(`${styles[meaning]('mayfly:')} ${lines.map(printable).join('\n')}\n`)
}
