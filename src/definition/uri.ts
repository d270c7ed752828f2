/**
 * One resource, many spellings: which URIs are written plainly, and which may mean the same to a user's code.
 */

/** Characters; no URI is longer (RFC 9110 §4.1 asks for 8000). */
const MAX_PLAIN_LENGTH = 8192

/** A scheme in lower case, and the characters that RFC 3986 has. */
const SYNTAX = /^[a-z][a-z\d+.-]*:[\w.~!$&'()*+,;=:@/?#[\]%-]*$/

/** Escapes in capitals, of what needs one: letters, digits and `-._~` need none (RFC 3986 §2.3). */
const ESCAPES = /^(?:[^%]|%(?![46][1-9A-F]|[57][\dA]|3\d|2[DE]|5F|7E)[\dA-F]{2})*$/

/** A segment that is `.` or `..`, a control character, or an escape of an escape. */
const TRICKS = /(?:^|[:/\\])\.\.?(?:[/\\?#]|$)|\p{Cc}|%[\da-f]{2}/iu

/**
 * Whether a URI is in its normal form (RFC 3986 §6.2.2), so that every reader reads the same: scheme in lower case, no dot
 * segments, no control characters, nothing escaped that needs no escape, or twice.
 */
export function isPlainUri(uri: string): boolean {
  if (uri.length > MAX_PLAIN_LENGTH || !SYNTAX.test(uri) || !ESCAPES.test(uri) || !URL.canParse(uri))
    return false
  const { href } = new URL(uri)
  // `https://host` and `https://host/` are one, and both are common.
  return (href === uri || href === `${uri}/`) && !TRICKS.test(decode(uri).normalize('NFKC'))
}

/**
 * What all spellings of a URI have in common: decoded, in lower case, without dot segments, empty ones, or control characters. Two
 * URIs that are folded alike are taken for one where the question is who may not read them, never where it is what they name.
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

/** What can be decoded is. */
function decode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}
