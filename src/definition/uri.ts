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
  return fold(uri, 1)?.[0]
}

/** Maximum absolute paths within one URI; with more, it is refused. */
const MAX_PATHS = 3

/**
 * The canonical forms of all that a URI may lead to. `file:///srv//etc/passwd` leads to `/etc/passwd` as well, if a template has the
 * absolute path in a variable and its resource resolves it.
 *
 * @returns undefined like `foldUri`, and for a URI with more than three absolute paths.
 */
export function spellingsOf(uri: string): readonly string[] | undefined {
  const forms = fold(uri, MAX_PATHS + 2)
  return forms === undefined || forms.length > 2 * MAX_PATHS + 1 ? undefined : forms
}

/** A form without query and fragment. */
export function withoutQuery(form: string): string {
  return form.replace(/\/?[?#].*/s, '')
}

function fold(uri: string, maxPaths: number): string[] | undefined {
  const text = uri.length > MAX_LENGTH ? undefined : normalize(decode(decode(uri)))
  if (text === undefined) return undefined
  const [scheme = '', ...segments] = text
    .toLowerCase()
    .replace(/[\p{Cc} ]/gu, '')
    .split(/[/\\]/)
  // The path from its first segment, and from each place where an absolute one begins: a double slash or a drive.
  const paths: string[][] = [[]]
  for (const written of segments) {
    const isAbsolute = written === '' || /^[a-z]:$/.test(written)
    if (isAbsolute && paths.at(-1)!.length > 0 && paths.length < maxPaths) paths.push([])
    const segment = written.replace(STREAM, '')
    if (segment === '..') for (const path of paths) path.pop()
    else {
      const name = segment.replace(TRAILING_DOTS, '')
      if (name !== '') for (const path of paths) path.push(name)
    }
  }
  const authority = segments[0] === '' && segments[1] ? [segments[1]] : []
  const join = (path: readonly string[]): string => [scheme, ...path].join('/')
  const [whole = [], ...others] = paths
  return [
    join(whole),
    ...others
      .filter(({ length }) => length > 0)
      .flatMap((path) => [join(path), join([...authority, ...path])]),
  ]
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
