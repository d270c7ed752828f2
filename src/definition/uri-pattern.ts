/** Which URIs a template could serve, however they are spelled and however its server interprets the template. */
import { foldUri, withoutQuery } from './uri.ts'

/** Placeholders for the expressions of a template: characters of one segment, and any characters. */
const SEGMENT = '\uE000'
const ANYTHING = '\uE001'
const WILDCARDS: { readonly [operator: string]: string } = {
  '+': ANYTHING,
  '#': ANYTHING,
  '/': ANYTHING,
  ';': ANYTHING,
  '&': ANYTHING,
  '?': `?${ANYTHING}`,
}

export interface UriPattern {
  /** Whether it fits a canonical form of a URI (`spellingsOf`), or that form without its query, `bare`. */
  covers(form: string, bare?: string): boolean
  /** Whether it fits a URI as it is written, in lower case. */
  coversWritten(uri: string): boolean
}

/** @returns undefined for a template that cannot be folded. */
export function compileUriPattern(template: string): UriPattern | undefined {
  const text = template.replace(/\{(.)[^}]*\}/g, (_all, operator: string) => WILDCARDS[operator] ?? SEGMENT)
  const folded = foldUri(text)
  if (folded === undefined) return undefined
  const [whole, short, written] = [folded, withoutQuery(folded), text.toLowerCase()].map(partsOf) as [
    string[],
    string[],
    string[],
  ]
  const isShort = whole.join('') === short.join('')
  return {
    covers: (form, bare = withoutQuery(form)) =>
      fits(whole, form) || ((!isShort || bare !== form) && fits(short, bare)),
    coversWritten: (uri) => fits(written, uri),
  }
}

/** Literals, with a placeholder between each two. Of placeholders without a literal between them, one is left. */
function partsOf(pattern: string): string[] {
  const runs = pattern.replace(/[\uE000\uE001]{2,}/g, (run) => (run.includes(ANYTHING) ? ANYTHING : SEGMENT))
  return runs.split(/([\uE000\uE001])/)
}

/**
 * Whether a string matches a pattern. Only looks at where the literals occur, each time from left to right, so that a string with another
 * beginning takes no time, and any other one at most its length times the parts of the pattern.
 */
function fits([first = '', ...pairs]: readonly string[], text: string): boolean {
  if (pairs.length === 0) return text === first
  const last = pairs.at(-1)!
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  /** Where what has been matched so far may end, in order. */
  let ends: readonly number[] = [first.length]
  for (let index = 0; index + 2 < pairs.length; index += 2) {
    ends = endsOf(ends, pairs[index] === ANYTHING, pairs[index + 1]!, text)
    if (ends.length === 0) return false
  }
  const from = text.length - last.length
  const isAny = pairs.at(-2) === ANYTHING
  const start = isAny ? ends[0]! : ends.findLast((end) => end <= from)
  return start !== undefined && start <= from && (isAny || !text.slice(start, from).includes('/'))
}

/** Where the literal may end after a placeholder that begins at one of `starts`. */
function endsOf(starts: readonly number[], isAny: boolean, literal: string, text: string): number[] {
  const ends: number[] = []
  let at = -1
  let reached = -1
  for (const start of starts) {
    if (start <= reached) continue
    const slash = isAny ? -1 : text.indexOf('/', start)
    reached = slash === -1 ? text.length : slash
    if (at < start) at = text.indexOf(literal, start)
    for (; at !== -1 && at <= reached; at = text.indexOf(literal, at + 1)) ends.push(at + literal.length)
    if (at === -1) break
  }
  return ends
}
