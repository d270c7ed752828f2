/** Keeps what the user passed on the command line out of the report, in whatever form a server sends it back. */

import { decodingsOf, fromPercent } from './decodings.ts'

export interface Hide {
  /** For text of ours, which repeats the user's URL at most. */
  inOwn(text: string): string
  /** For text of a server's; `isClipped`: what follows was left out, so that it may end with a part of a secret. */
  inForeign(text: string, isClipped: boolean): string
}

export interface UserInput {
  readonly url: URL
  readonly bearer: string | undefined
  readonly headers: { readonly [name: string]: string }
}

const HIDDEN = '[secret]'

/** Shorter ones are left readable in text of ours: replacing every "1" would leave nothing to read. */
const MIN_OWN_LENGTH = 6
/** Shorter ones are hidden in foreign text as whole words only. */
const MIN_PART_LENGTH = 4
/** Shorter ones are not looked for across spaces: `open` is in `to pen`. */
const MIN_SQUEEZED_LENGTH = 8

/** The token, values of headers and of the query, what they decode to, and the parts of them that are secrets by themselves. */
export function secretsIn({ url, bearer, headers }: UserInput): string[] {
  const query = [...url.searchParams.values()]
  const values = [...(bearer === undefined ? [] : [bearer]), ...query, ...Object.values(headers)]
  const parts = values.flatMap(credentialsIn).flatMap((value) => [value, ...decodedParts(value)])
  return [...new Set(parts)].filter((value) => value !== '')
}

export function createHide(secrets: readonly string[]): Hide {
  if (secrets.length === 0) return { inOwn: (text) => text, inForeign: (text) => text }
  const own = toPattern(secrets.filter(({ length }) => length >= MIN_OWN_LENGTH))
  const foreign = toPattern(secrets)
  const longest = Math.max(...secrets.flatMap(formsOf).map(({ length }) => length))
  const holds = createSearch(secrets)
  return {
    inOwn: (text) => text.replaceAll(own, HIDDEN),
    inForeign: (text, isClipped) => {
      const rest = text.replaceAll(foreign, HIDDEN)
      const sure = isClipped ? rest.slice(0, Math.max(0, rest.length - longest)) : rest
      return [sure, ...decodingsOf(sure)].some(holds) ? HIDDEN : sure
    },
  }
}

/** The whole value; of `Basic abc` also `abc`; of a cookie the values; and the longer words. */
function credentialsIn(value: string): string[] {
  const [, scheme, credential] = /^([A-Za-z][\w-]*) +(\S.*)$/.exec(value) ?? []
  const rest = credential ?? value
  const cookies = /^[^\s=;]+=/.test(rest) ? rest.split(/; */).map((pair) => pair.replace(/^[^=]*=/, '')) : []
  const words = rest.split(/[\s,;]+/).filter(({ length }) => length >= MIN_OWN_LENGTH)
  return [value, ...(scheme === undefined ? [] : [rest]), ...cookies, ...words]
}

/** What it decodes to, as far as that is text: user and password, or the segments of a JWT with their claims. */
function decodedParts(value: string): string[] {
  const texts = value.split('.').flatMap(fromBase64)
  const segments = [...texts, ...fromHex(value), fromPercent(value)].filter(isText)
  return segments.flatMap((text) => [text, ...pairIn(text), ...claimsIn(text)])
}

function fromBase64(text: string): string[] {
  if (!/^[\w+/-]{4,}={0,2}$/.test(text)) return []
  const bytes = Buffer.from(text, 'base64')
  return [bytes.toString('utf8'), bytes.toString('latin1')]
}

function fromHex(text: string): string[] {
  return /^(?:[\da-f]{2}){3,}$/i.test(text) ? [Buffer.from(text, 'hex').toString('utf8')] : []
}

/** What was never encoded decodes to anything but this. */
function isText(decoded: string): boolean {
  return !/[\ufffd\p{Cc}]/u.test(decoded)
}

/** RFC 7617: what follows the first colon is the password. */
function pairIn(text: string): string[] {
  const [, user, password] = /^([^:{]*):(.*)$/s.exec(text) ?? []
  return [user, password].filter((part) => part !== undefined)
}

/** But for URLs, which name issuer and audience: of this very server, often. */
function claimsIn(text: string): string[] {
  try {
    const claims: unknown = JSON.parse(text)
    const values: unknown[] = Object.values(Object(claims))
    return values
      .filter((claim) => typeof claim === 'string')
      .filter((claim) => claim.length >= MIN_OWN_LENGTH && !/^https?:/.test(claim))
  } catch {
    return []
  }
}

/** The forms that are replaced in place, so that the text around them can still be read. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Without halves of characters, which cannot be encoded.
  const inUrl = encodeURIComponent(bytes.toString())
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    secret.replaceAll('/', '\\/'),
    inUrl,
    inUrl.replaceAll('%20', '+'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ]
}

/** Names of headers and methods are shown in another case than they came in. */
function toPattern(secrets: readonly string[]): RegExp {
  const forms = new Set(secrets.flatMap(formsOf))
  // The longest first: a part of a secret may be a secret, too.
  const sorted = [...forms].toSorted((a, b) => b.length - a.length)
  const patterns = sorted.map((form) => {
    const escaped = form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    return form.length < MIN_PART_LENGTH ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped
  })
  return new RegExp(patterns.length === 0 ? '(?!)' : patterns.join('|'), 'giu')
}

function createSearch(secrets: readonly string[]): (text: string) => boolean {
  const whole = secrets.filter(({ length }) => length >= MIN_PART_LENGTH).map(fold)
  const squeezed = secrets.map(squeeze).filter(({ length }) => length >= MIN_SQUEEZED_LENGTH)
  return (text) => {
    const [folded, tight] = [fold(text), squeeze(text)]
    return (
      whole.some((secret) => folded.includes(secret)) || squeezed.some((secret) => tight.includes(secret))
    )
  }
}

/** Without characters that are not seen, or only on another one. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .toLowerCase()
}

function squeeze(text: string): string {
  return fold(text).replaceAll(/\s+/g, '')
}
