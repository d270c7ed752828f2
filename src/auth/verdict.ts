/**
 * What an answer says about its token, in the spellings of token tables, libraries and RFC 7662. Returning the row of a token that was
 * revoked must not accept it.
 */

type Members = { readonly [member: string]: unknown }

export type Verdict = 'good' | 'bad' | 'unclear'

/** Each one present must be `true`. Also with `is` before, as `isActive` and `is_active`. */
const GOOD = ['valid', 'active', 'ok', 'success', 'verified', 'authenticated', 'authorized', 'enabled']

/**
 * Each one present must be false or empty: 0 is how some databases store false, and a time is when it happened. Also with `is` before or
 * `at` after, as `isRevoked` and `revoked_at`.
 */
const BAD = [
  'revoked',
  'expired',
  'disabled',
  'inactive',
  'invalid',
  'blocked',
  'suspended',
  'deactivated',
  'deleted',
  'banned',
]
const EMPTY: readonly unknown[] = [undefined, null, false, 0, '']

const EXPIRIES = [
  ...['expiresAt', 'expires_at', 'exp', 'expires', 'expiry', 'expiration', 'expiresOn', 'expires_on'],
  ...[
    'expireAt',
    'expire_at',
    'expiredAt',
    'expired_at',
    'expiryDate',
    'expiry_date',
    'validUntil',
    'valid_until',
  ],
  ...['expirationDate', 'expiration_date', 'expirationTime', 'expiration_time'],
]

/** Unclear: a member that should be `true` is something else, such as a number or a Promise. */
export function verdictOf(answer: Members): Verdict {
  const good = GOOD.flatMap((word) => valuesOf(answer, [word, ...spellings('is', word)]))
  if (good.some((value) => value === false || value === undefined || value === null)) return 'bad'
  if (good.some((value) => value !== true)) return 'unclear'
  if (answer.error !== undefined && answer.error !== null && answer.error !== false) return 'bad'
  const bad = BAD.flatMap((word) => {
    // `expired_at` is a name for the expiry.
    const at = word === 'expired' ? [] : spellings(word, 'at')
    return valuesOf(answer, [word, ...spellings('is', word), ...at])
  })
  if (bad.some((value) => !EMPTY.includes(value))) return 'bad'
  const states = valuesOf(answer, ['status', 'state'])
  return states.some((value) => typeof value === 'string' && BAD.includes(value.toLowerCase()))
    ? 'bad'
    : 'good'
}

/** When a token expires, by the name of each member that says so. */
export function expiriesOf(answer: Members): readonly (readonly [name: string, value: unknown])[] {
  return EXPIRIES.map((name) => [name, answer[name]] as const).filter(
    ([, value]) => value !== undefined && value !== null,
  )
}

const valuesOf = (answer: Members, names: readonly string[]): unknown[] =>
  names.filter((name) => name in answer).map((name) => answer[name])

/** `is` and `active` are written `isActive` or `is_active`. */
function spellings(first: string, second: string): string[] {
  return [`${first}${second.charAt(0).toUpperCase()}${second.slice(1)}`, `${first}_${second}`]
}
