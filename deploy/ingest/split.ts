/** Splits documents by headings and size. Markdown is split by `chunkdown`; HTML is first converted to Markdown by `turndown`. */
import { memberOf } from '../../src/definition/error-text.ts'
import { CliError } from '../terminal/cli-error.ts'
import { cut } from './cut.ts'
import { segmentsOf } from './segments.ts'
import { MAX_NESTING, shallow } from './shallow-html.ts'
import type { DocumentKind } from './sources.ts'

export interface Piece {
  readonly text: string
  /** The headings above it, top level first. */
  readonly headings: readonly string[]
}

/** Splits one document. Throws a `RangeError` for one that is nested too deeply. */
export type Split = (text: string, kind: DocumentKind, warn: (message: string) => void) => Piece[]

/** How much a piece may exceed the size, to keep a list or a code block in one piece. */
const MAX_OVERFLOW = 1.5

/** Markup characters in one paragraph. The parser's time grows with their square: 2000 take about a second. */
const MAX_MARKUP = 1000
const MARKUP = /[[\]()*_~`<>!&\\]/g

/** The parser's time grows with the square of a document. */
const SEGMENT_CHUNKS = 15

/** A heading is repeated in every chunk below it. */
const MAX_HEADING = 200

/** Throws `CliError` if a package for these kinds of documents is missing. */
export async function createSplit(chunkSize: number, kinds: ReadonlySet<DocumentKind>): Promise<Split> {
  const toMarkdown = kinds.has('html') ? await loadTurndown() : undefined
  const splitMarkdown =
    kinds.has('html') || kinds.has('markdown') ? await loadChunkdown(chunkSize) : undefined
  const pieces: Split = (text, kind, warn) => {
    if (kind === 'text') return splitText(text, chunkSize)
    // An escape in HTML can be half of a surrogate pair.
    const markdown =
      kind === 'html' ? toMarkdown!(shallow(text)).replaceAll(/\p{Cs}/gu, '\ufffd') : withoutFrontMatter(text)
    const why = hasDenseLine(markdown)
      ? `a line has over ${MAX_MARKUP} characters of markup`
      : isTooDeep(markdown)
        ? `it is nested over ${MAX_NESTING} levels deep`
        : undefined
    if (why === undefined)
      return segmentsOf(loosened(markdown), SEGMENT_CHUNKS * chunkSize).flatMap(
        ({ text: segment, context }) =>
          splitMarkdown!(`${context}${segment}`).filter((piece) => !context.includes(piece.text)),
      )
    warn(`${why}: split as plain text, without headings`)
    return splitText(markdown, chunkSize)
  }
  return (text, kind, warn) =>
    pieces(text, kind, warn).flatMap(({ text: piece, headings }) => {
      const shown = headings.map((one) => cut(one, MAX_HEADING)[0] ?? '')
      const parts = piece.length > chunkSize * MAX_OVERFLOW ? cut(piece, chunkSize) : [piece]
      return parts.map((part) => ({ text: part, headings: shown }))
    })
}

// In a `try`, to report a missing package in one line.
async function loadChunkdown(chunkSize: number): Promise<(text: string) => Piece[]> {
  try {
    const { chunkdown } = await import('chunkdown')
    const splitter = chunkdown({ chunkSize, maxOverflowRatio: MAX_OVERFLOW })
    return (markdown) =>
      splitter.split(markdown).chunks.map(({ text, breadcrumbs }) => ({
        text,
        headings: breadcrumbs.map((one) => one.text),
      }))
  } catch (error) {
    throw missing('chunkdown', error)
  }
}

async function loadTurndown(): Promise<(html: string) => string> {
  try {
    const { default: Turndown } = await import('turndown')
    const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' })
    turndown.remove([
      'script',
      'style',
      'noscript',
      'template',
      'nav',
      'title',
    ] as (keyof HTMLElementTagNameMap)[])
    return (html) => turndown.turndown(html)
  } catch (error) {
    throw missing('turndown', error)
  }
}

function missing(name: string, error: unknown): unknown {
  if (memberOf(error, 'code') !== 'ERR_MODULE_NOT_FOUND') return error
  return new CliError(
    `documents are split by the package ${name}, which is not installed: run npm install --save-dev chunkdown turndown`,
  )
}

function hasDenseLine(markdown: string): boolean {
  return markdown.split('\n').some((line) => markupIn(line) > MAX_MARKUP)
}

function markupIn(line: string): number {
  return line.match(MARKUP)?.length ?? 0
}

/** Ends each paragraph before its markup becomes too much. */
function loosened(markdown: string): string {
  let count = 0
  const lines = markdown.split('\n').map((line) => {
    const own = markupIn(line)
    const isFull = count + own > MAX_MARKUP
    count = line.trim() === '' ? 0 : isFull ? own : count + own
    return isFull ? `\n${line}` : line
  })
  return lines.join('\n')
}

/** What a line of Markdown can begin with: its quotes and list items, and the indentation of those above. */
const MARKERS = /^(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/

function isTooDeep(markdown: string): boolean {
  return markdown.split('\n').some((line) => {
    const [markers = ''] = MARKERS.exec(line) ?? []
    if (markers.length <= MAX_NESTING) return false
    const own = markers.match(/[>*+-]|\d+/g)?.length ?? 0
    const above = (/^[ \t]*/.exec(markers)?.[0].length ?? 0) / 2
    return own > 0 && own + above > MAX_NESTING
  })
}

function withoutFrontMatter(markdown: string): string {
  return markdown.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '')
}

/** As many paragraphs as fit; splits longer ones into sentences. */
function splitText(text: string, chunkSize: number): Piece[] {
  const paragraphs = text.split(/\r?\n\s*\n/).map((one) => one.trim())
  const parts = paragraphs.flatMap((one) => (one.length > chunkSize ? sentencesOf(one, chunkSize) : [one]))
  const pieces: string[] = []
  for (const part of parts) {
    const last = pieces.at(-1)
    if (part === '') continue
    if (last !== undefined && last.length + part.length + 2 <= chunkSize)
      pieces[pieces.length - 1] = `${last}\n\n${part}`
    else pieces.push(part)
  }
  return pieces.map((one) => ({ text: one, headings: [] }))
}

function sentencesOf(paragraph: string, chunkSize: number): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(paragraph)
  const parts: string[] = ['']
  // Cuts a sentence without an end, such as a table of numbers.
  for (const { segment } of segments)
    for (const piece of cut(segment, chunkSize)) {
      if (parts.at(-1)!.length + piece.length > chunkSize) parts.push('')
      parts[parts.length - 1] += piece
    }
  return parts.map((one) => one.trim())
}
