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
  /** Whether it fits a canonical form of a URI (`spellingsOf`), or that form without its query. */
  covers(form: string): boolean
  /** Whether it fits a URI as it is written, in lower case. */
  coversWritten(uri: string): boolean
}

/** @returns undefined for a template that cannot be folded. */
export function compileUriPattern(template: string): UriPattern | undefined {
  const text = template.replace(/\{(.)[^}]*\}/g, (_all, operator: string) => WILDCARDS[operator] ?? SEGMENT)
  const folded = foldUri(text)
  if (folded === undefined) return undefined
  const [whole, bare, written] = [folded, withoutQuery(folded), text.toLowerCase()].map((pattern) =>
    pattern.split(/([\uE000\uE001])/),
  ) as [string[], string[], string[]]
  return {
    covers: (form) => fits(whole, form) || fits(bare, withoutQuery(form)),
    coversWritten: (uri) => fits(written, uri),
  }
}

/** Whether a string matches a pattern. Takes time proportional to the length of the string times the parts of the pattern. */
function fits(pattern: readonly string[], text: string): boolean {
  let here = new Uint8Array(text.length + 1)
  here[0] = 1
  for (const part of pattern) {
    const next = new Uint8Array(text.length + 1)
    for (let offset = 0; offset <= text.length; offset++) {
      if (part === SEGMENT || part === ANYTHING) {
        const goesOn = next[offset - 1] === 1 && (part === ANYTHING || text[offset - 1] !== '/')
        if (here[offset] === 1 || goesOn) next[offset] = 1
      } else if (here[offset] === 1 && text.startsWith(part, offset)) next[offset + part.length] = 1
    }
    if (!next.includes(1)) return false
    here = next
  }
  return here[text.length] === 1
}
