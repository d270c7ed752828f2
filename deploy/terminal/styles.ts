/**
 * How text for people looks on a terminal: styles by their meaning, aligned columns, and lines of at most 80 columns.
 *
 * A style never carries a meaning alone: a word does, so that output without colours says the same. The colours are green, magenta and red,
 * which are readable on light and dark backgrounds; everything else is bold, faint or underlined, in the terminal's own colour.
 */
import { stripVTControlCharacters, styleText } from 'node:util'

/** Lines for people are wrapped at this column, also on a wider terminal. */
export const WIDTH = 80

const FORMATS = {
  heading: 'bold',
  ok: 'green',
  warning: 'magenta',
  failure: 'red',
  /** Worth a look, and nothing is wrong. */
  hint: 'bold',
  /** What matters less. */
  dim: 'dim',
  /** What the user can type. */
  command: 'bold',
  url: 'underline',
  /** The one address that the user looks for. */
  mainUrl: ['bold', 'underline'],
} as const satisfies { readonly [meaning: string]: Parameters<typeof styleText>[0] }

export type Meaning = keyof typeof FORMATS

/** One function for each meaning. They change nothing without colours. */
export type Styles = { readonly [meaning in Meaning]: (text: string) => string }

type Environment = { readonly [name: string]: string | undefined }

/**
 * Whether output to a stream has colours, by the rules of Node: on a terminal, unless `NO_COLOR` is set to a non-empty string
 * (https://no-color.org) or `TERM` is `dumb`. `FORCE_COLOR` overrides everything: `0` and `false` for none, any other value for colours.
 */
export function isColoured(
  stream: { readonly isTTY?: boolean | undefined } = process.stdout,
  env: Environment = process.env,
): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = env
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}

/** The styles of a stream, which is stdout by default. A boolean decides for itself. */
export function stylesFor(
  output: boolean | { readonly isTTY?: boolean | undefined } = process.stdout,
): Styles {
  return (typeof output === 'boolean' ? output : isColoured(output)) ? COLOURED : PLAIN
}

/** How wide stdout is. A file has no end: its lines can be searched. */
export function columns(): number {
  return process.stdout.isTTY === true ? process.stdout.columns || WIDTH : Number.POSITIVE_INFINITY
}

const MEANINGS = Object.keys(FORMATS) as Meaning[]
const COLOURED = toStyles((meaning, text) => styleText(FORMATS[meaning], text, { validateStream: false }))
const PLAIN = toStyles((_meaning, text) => text)

function toStyles(apply: (meaning: Meaning, text: string) => string): Styles {
  const entries = MEANINGS.map((meaning) => [meaning, (text: string) => apply(meaning, text)] as const)
  return Object.fromEntries(entries) as { [meaning in Meaning]: (text: string) => string }
}

/** What the styles above write: SGR of ECMA-48. Hidden, blinking or reversed text is not among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept.
const OWN = /(\u001b\[(?:[124]|2[24]|3[125]|39)m)/

/** Applies `toSafe` to everything but the styles: a quoted text can at most be in a colour. */
export function escapeAround(text: string, toSafe: (part: string) => string): string {
  return text
    .split(OWN)
    .map((part, at) => (at % 2 === 1 ? part : toSafe(part)))
    .join('')
}

interface ColumnOptions {
  /** Spaces before each row. Default 2. */
  readonly indent?: number
  /** The last column is wrapped at this width, unless less than 24 columns would remain for it. Default 80; `Infinity` wraps nothing. */
  readonly width?: number
  /** The least width of the first column, for tables that belong together. Default 0. */
  readonly first?: number
}

const GAP = 2
const MIN_LAST = 24

/** Rows whose cells begin in the same columns; cells may be styled. Without a line feed at the end. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  { indent = 2, width = WIDTH, first = 0 }: ColumnOptions = {},
): string {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: count - 1 }, (_, at) =>
    Math.max(
      ...rows.filter((row) => row.length > at + 1).map((row) => widthOf(row[at]!)),
      at === 0 ? first : 0,
    ),
  )
  const toLines = (row: readonly string[]): string => {
    const cells = row.slice(0, -1).map((cell, at) => padded(cell, widths[at]! + GAP))
    const start = ' '.repeat(indent) + cells.join('')
    const at = widthOf(start)
    const room = width - at < MIN_LAST ? Number.POSITIVE_INFINITY : width - at
    return (start + wrap(row.at(-1) ?? '', room).join(`\n${' '.repeat(at)}`)).trimEnd()
  }
  return rows.map(toLines).join('\n')
}

/** Lines of at most `width` columns, broken at spaces only: a longer word, such as a URL, stays whole. Keeps line feeds. */
export function wrap(text: string, width: number = WIDTH): string[] {
  return text.split('\n').flatMap((line) => {
    if (widthOf(line) <= width) return [line]
    const lines: string[] = []
    for (const word of line.split(' ')) {
      const last = lines.at(-1)
      if (last === undefined || widthOf(last) + 1 + widthOf(word) > width) lines.push(word)
      else lines[lines.length - 1] = `${last} ${word}`
    }
    return lines
  })
}

/** `410 ms`, and from a second on `12.3 s`. */
export function duration(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Columns that a text takes: one for each character, none for a style. */
export function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
