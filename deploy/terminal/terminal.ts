/** Messages of a command for the user: on stderr, since scripts read stdout. */

import { isA } from '../../src/definition/error-text.ts'
import { CliError, printable, printableLines } from './cli-error.ts'
import { codeFrame } from './code-frame.ts'
import { escapeAround, isColoured, type Meaning, stylesFor } from './styles.ts'

let isQuiet = false
let isProgressHidden = false
const warned = new Set<string>()

/** The line that `redraw` wrote and that is still there. */
let drawn = ''
/** Whether what was written last ended its line, and asked nothing that the user may be answering. */
let isLineFree = true

export const terminal = {
  /** `--quiet`: from now on shows only warnings, errors and the output of other programs. */
  beQuiet(): void {
    isQuiet = true
  },

  /** One line about what happens or could be done. */
  note(line: string): void {
    if (!isQuiet) say('dim', line)
  },

  /** The last line of a command: what comes next. Only for people: on a terminal. Hidden like a note. */
  next(line: string): void {
    if (!terminal.isScreen) return
    write(`\n${stylesFor(process.stderr).heading('Next:')} ${printable(line)}\n`)
  },

  /** Several lines, with `stylesFor(process.stderr)`. Hidden like a note. */
  show(text: string): void {
    if (isQuiet) return
    write(isColoured(process.stderr) ? escapeAround(text, printableLines) : printableLines(text))
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

  /** With `--json`: from now on `redraw` shows nothing. */
  hideProgress(): void {
    isProgressHidden = true
  },

  /**
   * One line over the one that it wrote before, without a line feed; an empty one removes it, as does everything else that is written here.
   * Hidden like a note. Does not write over the unfinished line of another program.
   */
  redraw(line: string): void {
    if (isQuiet || isProgressHidden || line === drawn || !isLineFree) return
    process.stderr.write(`${ERASE}${printable(line)}`)
    drawn = line
  },

  /** The same, only the first time in this process. */
  warnOnce(line: string): void {
    if (!warned.has(line)) terminal.warn(line)
    warned.add(line)
  },

  /** The output of another program, unchanged, and prompts for the user. */
  pass(text: string): void {
    write(text)
  },
}

/** Whether a person reads stderr. */
function isTerminal(): boolean {
  return process.stderr.isTTY === true
}

function framed(line: string): string[] {
  return codeFrame(line)?.split('\n') ?? []
}

/** Back to the start of the line, which is emptied (ECMA-48, EL). */
const ERASE = '\r\u001b[K'

function write(text: string): void {
  if (text === '') return
  process.stderr.write(drawn === '' ? text : ERASE + text)
  drawn = ''
  isLineFree = text.endsWith('\n') && !/[?:]\s*$/.test(text.slice(-200))
}

function say(meaning: Meaning, ...lines: readonly string[]): void {
  const styles = stylesFor(process.stderr)
  write(`${styles[meaning]('mayfly:')} ${lines.map(printable).join('\n')}\n`)
}
