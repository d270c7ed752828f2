/** Removes secrets from the command line from the report, in every form in which a server may return them. */

import { decodingsOf, fromPercent } from './decodings.ts'

export interface Hide {
  /** For Mayfly's own text, which contains at most the user's URL. */
  inOwn(text: string): string
  /** For text from a server. `isClipped`: the text was truncated, so it may end with a part of a secret. */
  inForeign(text: string, isClipped: boolean): string
}

export interface UserInput {
  readonly url: URL
  readonly bearer: string | undefined
  readonly headers: { readonly [name: string]: string }
}

const HIDDEN = '[secret]'

/** Shorter secrets are not replaced in Mayfly's own text: replacing every "1" would make it unreadable. */
const MIN_OWN_LENGTH = 6
/** Shorter secrets are hidden in a server's text only as whole words. */
const MIN_PART_LENGTH = 4
/** Shorter secrets are not searched across spaces: `open` is in `to pen`. */
const MIN_SQUEEZED_LENGTH = 8

/** The token, values of headers and of the query, their decoded forms, and parts that are secrets by themselves. */
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

/** The whole value, `abc` of `Basic abc`, the values of a cookie, and the longer words. */
function credentialsIn(value: string): string[] {
  const [, scheme, credential] = /^([A-Za-z][\w-]*) +(\S.*)$/.exec(value) ?? []
  const rest = credential ?? value
  const cookies = /^[^\s=;]+=/.test(rest) ? rest.split(/; */).map((pair) => pair.replace(/^[^=]*=/, '')) : []
  const words = rest.split(/[\s,;]+/).filter(({ length }) => length >= MIN_OWN_LENGTH)
  return [value, ...(scheme === undefined ? [] : [rest]), ...cookies, ...words]
}

/** Its decoded forms: user and password, or the segments of a JWT with their claims. */
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

/** Text that is not encoded rarely decodes to only these characters. */
function isText(decoded: string): boolean {
  return !/[\ufffd\p{Cc}]/u.test(decoded)
}

/** The password follows the first colon (RFC 7617). */
function pairIn(text: string): string[] {
  const [, user, password] = /^([^:{]*):(.*)$/s.exec(text) ?? []
  return [user, password].filter((part) => part !== undefined)
}

/** Except URLs, which are the issuer and the audience, often of this server. */
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

/** Encoded forms that are replaced in place, so that the text around them stays readable. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Without lone surrogates, which cannot be encoded.
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

/** Ignores case, since names of headers and methods may be shown in another case. */
function toPattern(secrets: readonly string[]): RegExp {
  const forms = new Set(secrets.flatMap(formsOf))
  // Longest first, since a part of a secret may be a secret too.
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

/** Without invisible and combining characters. */
function fold(text: string): string {
  // Before as well: sorting a long run of marks takes quadratic time.
  return text.replaceAll(INVISIBLE, '').normalize('NFKD').replaceAll(INVISIBLE, '').toLowerCase()
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\uFF9E\uFF9F]+/gu

function squeeze(text: string): string {
  return fold(text).replaceAll(/\s+/g, '')
}
