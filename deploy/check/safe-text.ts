/** Makes a server's text safe to print: without secrets and control characters, and with a limited length. */

import { printable } from '../terminal/cli-error.ts'
import type { Hide } from './secrets.ts'

const MAX_QUOTE = 100
const MAX_TEXT = 500
/** How much text is searched for secrets. More than is shown, since hiding secrets may shorten it. */
const MAX_SEARCHED = 2000

/** Marks foreign text until it is shown: private-use characters, which Mayfly's own text does not contain. */
const OPEN = '\ue000'
const CLOSE = '\ue001'
const CITED = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`)

/** Foreign text, in quotation marks. */
export function quote(text: unknown): string {
  return `"${cite(text)}"`
}

/** Marks foreign text: all text from a server must pass through here or through `quote` before it is reported. */
export function cite(text: unknown): string {
  const string = typeof text === 'string' ? text : toJson(text)
  return `${OPEN}${string.replaceAll(OPEN, '').replaceAll(CLOSE, '').slice(0, MAX_SEARCHED)}${CLOSE}`
}

/** The text without secrets and control characters, and truncated. */
export function toSafeText(text: string, hide: Hide): string {
  // The odd parts are foreign text.
  const parts = text.split(CITED)
  const shown = parts.map((part, index) =>
    index % 2 === 1
      ? clip(
          plain(hide.inForeign(linksAsOpened(hide.inForeign(part, part.length >= MAX_SEARCHED)), false)),
          MAX_QUOTE,
        )
      : plain(hide.inOwn(part)),
  )
  return clip(shown.join(''), MAX_TEXT)
}

/** Its URLs as a browser opens them: a host that only looks like another one is shown in ASCII, `https://xn--pple-43d.com/`. */
function linksAsOpened(text: string): string {
  return text.replaceAll(/\bhttps?:\/\/[^\s"'<>`]+/gi, (url) =>
    /[^\x21-\x7e]/.test(url) && URL.canParse(url) ? new URL(url).href : url,
  )
}

function plain(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '))
}

/** Never throws, even if JSON is nested deeper than the stack. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing'
  } catch {
    return 'deeply nested JSON'
  }
}

function clip(text: string, length: number): string {
  // Does not split a character of two units.
  return text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…` : text
}
