/**
 * The keys for scopes of resources: URIs and URI templates. How the server itself interprets its templates is unknown, so a key protects
 * URIs generously and opens them strictly.
 */
import { foldUri } from '../definition/uri.ts'
import { compileUriTemplate } from '../definition/uri-template.ts'

export interface ResourceKey {
  readonly key: string
  readonly scopes: readonly string[]
  /** Whether some server could serve `uri` by this key, in any spelling. */
  covers(uri: string): boolean
  /** Whether it is a template that `uri` matches (RFC 6570). */
  opens(uri: string): boolean
}

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

/** The forms in which a URI and a key are compared. */
const FORMS: readonly ((uri: string) => string)[] = [
  (uri) => uri.toLowerCase(),
  foldUri,
  (uri) => foldUri(uri).replace(/\/?[?#].*/s, ''),
]

/** @throws TypeError for an invalid template. */
export function toResourceKey(key: string, scopes: readonly string[]): ResourceKey {
  const template = /[{}]/.test(key) ? compileUriTemplate(key) : undefined
  const pattern = key.replace(/\{(.)[^}]*\}/g, (_all, operator: string) => WILDCARDS[operator] ?? SEGMENT)
  const patterns = FORMS.map((form) => form(pattern).split(/([\uE000\uE001])/))
  return {
    key,
    scopes,
    covers: (uri) => FORMS.some((form, index) => fits(patterns[index]!, form(uri))),
    opens: (uri) => template?.match(uri) !== undefined,
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
    here = next
  }
  return here[text.length] === 1
}
