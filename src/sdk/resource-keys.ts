/**
 * The keys for scopes of resources: URIs and URI templates. How the server itself interprets its templates is unknown, so a key protects
 * URIs generously and opens them strictly.
 */
import { spellingsOf, withoutQuery } from '../definition/uri.ts'
import { compileUriPattern } from '../definition/uri-pattern.ts'
import { compileUriTemplate } from '../definition/uri-template.ts'

export interface ResourceKey {
  readonly key: string
  readonly scopes: readonly string[]
  /** Whether some server could serve a URI by this key, in any spelling. */
  covers(uri: SpelledUri): boolean
  /** Whether it is a template that `uri` matches (RFC 6570). */
  opens(uri: string): boolean
}

/** A URI to compare with keys. Made once for each URI, not for each key. */
export interface SpelledUri {
  /** In lower case. */
  readonly written: string
  /** Each also without its query. Undefined for a URI that may be a spelling of any other. */
  readonly forms: readonly (readonly [form: string, bare: string])[] | undefined
}

export function spelled(uri: string): SpelledUri {
  const forms = spellingsOf(uri)?.map((form) => [form, withoutQuery(form)] as const)
  return { written: uri.toLowerCase(), forms }
}

/** @throws TypeError for an invalid template, and for a key that cannot be compared with other URIs. */
export function toResourceKey(key: string, scopes: readonly string[]): ResourceKey {
  const template = /[{}]/.test(key) ? compileUriTemplate(key) : undefined
  const pattern = compileUriPattern(key)
  if (pattern === undefined) {
    throw new TypeError(
      `The resource ${key.slice(0, 100)} in "scopes" must have at most 8192 characters, and at most 30 combining characters in a row.`,
    )
  }
  return {
    key,
    scopes,
    covers: ({ written, forms }) =>
      forms === undefined ||
      pattern.coversWritten(written) ||
      forms.some(([form, bare]) => pattern.covers(form, bare)),
    opens: (uri) => template?.match(uri) !== undefined,
  }
}
