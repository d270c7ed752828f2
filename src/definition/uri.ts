/** The spellings of a URI: which URIs are normalized, and which ones user code may treat as equal. */

/** Maximum characters (RFC 9110 §4.1 asks for 8000). */
const MAX_LENGTH = 8192

/**
 * More combining characters in a row than the Stream-Safe Text Format allows (UAX #15 §13). Sorting them takes quadratic time. The two
 * half-width marks are not in \p{M}, but become marks.
 */
const UNSAFE_RUN = /[\p{M}\uFF9E\uFF9F]{31}/u

/** A scheme in lower case, and the characters that RFC 3986 allows. */
const SYNTAX = /^[a-z][a-z\d+.-]*:[\w.~!$&'()*+,;=:@/?#[\]%-]*$/

/** Escapes in upper case, only of characters that need one: letters, digits and `-._~` do not (RFC 3986 §2.3). */
const ESCAPES = /^(?:[^%]|%(?![46][1-9A-F]|[57][\dA]|3\d|2[DE]|5F|7E)[\dA-F]{2})*$/

/** A segment that is `.` or `..`, a control character, or a double escape. */
const TRICKS = /(?:^|[:/\\])\.\.?(?:[/\\?#]|$)|\p{Cc}|%[\da-f]{2}/iu

/**
 * Whether a URI is in normal form (RFC 3986 §6.2.2), so that all parsers read it the same way: scheme in lower case, no dot segments, no
 * control characters, no unnecessary and no double escapes.
 */
export function isPlainUri(uri: string): boolean {
  if (uri.length > MAX_LENGTH || !SYNTAX.test(uri) || !ESCAPES.test(uri) || !URL.canParse(uri)) return false
  const { href } = new URL(uri)
  // `https://host` and `https://host/` are equal, and both are common.
  if (href !== uri && href !== `${uri}/`) return false
  const text = normalize(decode(uri))
  return text !== undefined && !TRICKS.test(text)
}

/**
 * A canonical form that all spellings of a URI share: decoded, in lower case, without dot segments, empty segments or control characters,
 * and without what Windows ignores at the end of a name (dots, `::$DATA`). Use it only to deny access to other spellings, never to find a
 * resource: different URIs may share a form.
 *
 * @returns undefined for a URI of more than 8,192 characters or with more than 30 combining characters in a row: treat it as a spelling
 * of every URI.
 */
export function foldUri(uri: string): string | undefined {
  const parts = parse(uri)
  return parts && [parts.scheme, ...namesIn(parts.rest)].join('/')
}

/** Precedes each value in a URI for `spellingsOf`. In the URI of a stranger it only makes the comparison more strict. */
export const MARK = '\uE002'

/** Maximum absolute paths within one URI, and names in all of them: each makes up to two more forms, as long as the URI. */
const MAX_PATHS = 3
const MAX_NAMES = 32

/**
 * The canonical forms of all that a URI may lead to, if its resource resolves a variable as a path or a URL. Such a value is absolute with a
 * slash or backslash first, a drive (`C:`, `C:name`) or a scheme. `docs://a//srv/docs/x` may then be `docs://srv/docs/x`, or `docs://a/x`,
 * since only the resource knows its folder.
 *
 * @param isMarked Whether a `MARK` precedes each value. Otherwise one may also begin with the third slash of `docs:///srv/docs/x`.
 * @returns undefined like `foldUri`, and for a URI with more than three absolute paths, or more than 32
 * names in all of them.
 */
export function spellingsOf(uri: string, isMarked = false): readonly string[] | undefined {
  const parts = parse(uri)
  if (parts === undefined) return undefined
  const { scheme, rest } = parts
  const join = (...names: readonly string[]): string => [scheme, ...names].join('/')
  const forms = new Set([join(...namesIn(rest))])
  const [, host = ''] = /^[/\\]{2}([^/\\]+)/.exec(rest) ?? []
  const beginnings = [[], namesIn(host)]
  const places = absolutePlaces(scheme, rest, isMarked)
  if (places.length > MAX_PATHS) return undefined
  let count = 0
  for (const { start, prefix } of places) {
    const names = [...(prefix === '' ? [] : [prefix]), ...namesIn(rest.slice(start + prefix.length))]
    count += names.length
    if (count > MAX_NAMES) return undefined
    const [, folders = '', lead = ''] = /^(.*[/\\])?(.*)$/s.exec(rest.slice(0, start)) ?? []
    const before = namesIn(folders)
    const within = [...before, ...namesIn(lead)]
    const joined = plain(lead)
    for (const [index, name] of names.entries()) {
      const others = names.slice(index + 1)
      if (index === 0 || (index === 1 && prefix !== ''))
        for (const beginning of beginnings) forms.add(join(...beginning, name, ...others))
      forms.add(join(...within, name, ...others))
      forms.add(join(...before, joined + name, ...others))
    }
  }
  return [...forms]
}

/** Where an absolute path begins: with a drive or scheme as `prefix`, or with slashes. */
interface Place {
  readonly start: number
  readonly prefix: string
}

/** What may begin with the first character of a value: after a slash, a mark, or what separates values; a slash also after any symbol. */
const ABSOLUTE = /(?<=^|[/\\=,;&?#\uE002])[a-z][a-z\d+.-]*:[/\\]*|(?<=^|[^\p{L}\p{N}\p{M}.])[/\\]+/gu

function absolutePlaces(scheme: string, rest: string, isMarked: boolean): Place[] {
  // Not absolute: the two slashes before an authority, the port in it, and the third slash unless a value begins there.
  const isFile = scheme === 'file:'
  const begin = isFile ? /^\/\/(?:\uE002?\/)?|^\// : isMarked ? /^\/{1,3}/ : /^\/\//
  const skipped = /^\/\/[^/\\:\uE002]{2,}:\d*(?=[/\\]|$)/.exec(rest) ?? begin.exec(rest)
  const from = skipped?.[0].length ?? 0
  const places: Place[] = []
  for (const { 0: found, index } of rest.matchAll(ABSOLUTE)) {
    const end = index + found.length
    if (end <= from) continue
    const [prefix = ''] = /^[^/\\]*/.exec(found) ?? []
    places.push({ start: Math.max(index, from), prefix })
    if (places.length > MAX_PATHS) break
  }
  return places
}

/** A form without query and fragment. */
export function withoutQuery(form: string): string {
  return form.replace(/\/?[?#].*/s, '')
}

/** The scheme and what follows it: decoded, in lower case, without control characters. */
function parse(uri: string): { readonly scheme: string; readonly rest: string } | undefined {
  const text = uri.length > MAX_LENGTH ? undefined : normalize(decode(decode(uri)))
  if (text === undefined) return undefined
  const folded = text.toLowerCase().replace(/[\p{Cc} ]/gu, '')
  const [scheme = ''] = /^[^/\\:]*:?/.exec(folded) ?? []
  return { scheme: plain(scheme), rest: folded.slice(scheme.length) }
}

/** The names of a path, without empty and dot segments and without what Windows ignores. */
function namesIn(path: string): string[] {
  const names: string[] = []
  for (const written of plain(path).split(/[/\\]/)) {
    const segment = written.replace(STREAM, '')
    if (segment === '..') names.pop()
    else {
      const name = segment.replace(TRAILING_DOTS, '')
      if (name !== '') names.push(name)
    }
  }
  return names
}

function plain(text: string): string {
  return text.replaceAll(MARK, '')
}

/** What NTFS allows after a name, for the same file or folder: `::$DATA`, `:$I30:$INDEX_ALLOCATION`. */
const STREAM = /(?::[^:]*)?:\$[^:]*$/

/** Windows ignores them. The look-behind keeps the time linear. */
const TRAILING_DOTS = /(?<!\.)\.+$/

function normalize(text: string): string | undefined {
  return UNSAFE_RUN.test(text) ? undefined : text.normalize('NFKC')
}

/** Decodes the valid escapes. */
function decode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}
