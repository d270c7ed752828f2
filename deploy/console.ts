/** Output for people: coloured on a terminal, plain where it is piped or `NO_COLOR` is set. */
import { styleText } from 'node:util'

type Style = 'green' | 'yellow' | 'red' | 'bold' | 'dim'

/** `text` in a colour, where stdout shows colours. */
export function colour(style: Style, text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(style, text) : text
}
