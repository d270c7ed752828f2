/** Parts of a long Markdown document, each split by itself: the time for all is then in proportion to its length. */
import { cut } from './cut.ts'

export interface Segment {
  readonly text: string
  /** The headings that it is below, as Markdown. */
  readonly context: string
}

interface Heading {
  readonly level: number
  readonly line: string
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+\S/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const MAX_HEADING = 200

/** Ends each part before a heading if it is half full, at an empty line if it is nearly full, otherwise after any line, or within a longer one. */
export function segmentsOf(markdown: string, size: number): Segment[] {
  if (markdown.length <= size) return [{ text: markdown, context: '' }]
  const segments: Segment[] = []
  let above: Heading[] = []
  let context = ''
  let lines: string[] = []
  let length = 0
  let fence: string | undefined
  for (const line of markdown.split('\n').flatMap((one) => cut(one, size))) {
    const [, marks] = (fence === undefined && HEADING.exec(line)) || []
    if (marks !== undefined) above = above.filter(({ level }) => level < marks.length)
    const isEnd =
      (marks !== undefined && length > size / 2) ||
      (fence === undefined && line.trim() === '' && length > size * 0.75) ||
      length + line.length > size
    if (isEnd && lines.length > 0) {
      segments.push({ text: [...lines, ...(fence === undefined ? [] : [fence])].join('\n'), context })
      context = above.map((one) => `${one.line}\n\n`).join('')
      lines = fence === undefined ? [] : [fence]
      length = 0
    }
    lines.push(line)
    length += line.length + 1
    if (marks !== undefined) above.push({ level: marks.length, line: cut(line, MAX_HEADING)[0] ?? '' })
    const [, mark] = FENCE.exec(line) ?? []
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
  }
  return [...segments, { text: lines.join('\n'), context }]
}
