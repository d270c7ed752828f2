/** The spellings of a URI: which URIs are normalized, and which ones user code may treat as equal. */

/** Maximum characters of a plain URI (RFC 9110 §4.1 asks for 8000). */
const MAX_PLAIN_LENGTH = 8192

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
  if (uri.length > MAX_PLAIN_LENGTH || !SYNTAX.test(uri) || !ESCAPES.test(uri) || !URL.canParse(uri))
    return false
  const { href } = new URL(uri)
  // `https://host` and `https://host/` are equal, and both are common.
  return (href === uri || href === `${uri}/`) && !TRICKS.test(decode(uri).normalize('NFKC'))
}

/**
 * A canonical form that all spellings of a URI share: decoded, in lower case, without dot segments, empty segments or control characters.
 * Use it only to deny access to other spellings, never to find a resource: different URIs may share a form.
 */
export function foldUri(uri: string): string {
  const segments: string[] = []
  const text = decode(decode(uri)).normalize('NFKC').toLowerCase()
  for (const segment of text.replace(/[\p{Cc} ]/gu, '').split(/[/\\]/)) {
    if (segment === '..' && segments.length > 1) segments.pop()
    else if (segment !== '' && !/^\.\.?$/.test(segment)) segments.push(segment)
  }
  return segments.join('/')
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
