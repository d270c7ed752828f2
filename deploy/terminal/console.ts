/** Output for people: coloured on a terminal, plain if it is piped or `NO_COLOR` is set to a non-empty string (https://no-color.org). */
import { styleText } from 'node:util'

type Style = 'green' | 'yellow' | 'red' | 'bold' | 'dim'

/** Whether stdout shows colours. */
export function isColoured(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR
}

/** `text` in a colour, if stdout shows colours. */
export function colour(style: Style, text: string): string {
  return isColoured() ? styleText(style, text) : text
}

/** Quotes one word of a command for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
