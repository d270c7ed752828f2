/**
 * What an answer says about its token, in the spellings of token tables, libraries and RFC 7662. Returning the row of a token that was
 * revoked must not accept it.
 */

type Members = { readonly [member: string]: unknown }

export type Verdict = 'good' | 'bad' | 'unclear'

/** Each one present must be `true`. Written out, since each call looks for all of them. */
const GOOD = [
  ...['valid', 'isValid', 'is_valid'],
  ...['active', 'isActive', 'is_active'],
  ...['ok', 'isOk', 'is_ok'],
  ...['success', 'isSuccess', 'is_success'],
  ...['verified', 'isVerified', 'is_verified'],
  ...['authenticated', 'isAuthenticated', 'is_authenticated'],
  ...['authorized', 'isAuthorized', 'is_authorized'],
  ...['enabled', 'isEnabled', 'is_enabled'],
]

/**
 * Each one present must be false or empty: 0 is how some databases store false, and a time is when it happened. `expired_at` is a name for
 * the expiry.
 */
const BAD = [
  ...['revoked', 'isRevoked', 'is_revoked', 'revokedAt', 'revoked_at'],
  ...['expired', 'isExpired', 'is_expired'],
  ...['disabled', 'isDisabled', 'is_disabled', 'disabledAt', 'disabled_at'],
  ...['inactive', 'isInactive', 'is_inactive', 'inactiveAt', 'inactive_at'],
  ...['invalid', 'isInvalid', 'is_invalid', 'invalidAt', 'invalid_at'],
  ...['blocked', 'isBlocked', 'is_blocked', 'blockedAt', 'blocked_at'],
  ...['suspended', 'isSuspended', 'is_suspended', 'suspendedAt', 'suspended_at'],
  ...['deactivated', 'isDeactivated', 'is_deactivated', 'deactivatedAt', 'deactivated_at'],
  ...['deleted', 'isDeleted', 'is_deleted', 'deletedAt', 'deleted_at'],
  ...['banned', 'isBanned', 'is_banned', 'bannedAt', 'banned_at'],
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
  let isUnclear = false
  for (const name of GOOD) {
    if (!(name in answer)) continue
    const value = answer[name]
    if (value === false || value === undefined || value === null) return 'bad'
    if (value !== true) isUnclear = true
  }
  if (isUnclear) return 'unclear'
  if (answer.error !== undefined && answer.error !== null && answer.error !== false) return 'bad'
  for (const name of BAD) if (name in answer && !EMPTY.includes(answer[name])) return 'bad'
  return isBadState(answer.status) || isBadState(answer.state) ? 'bad' : 'good'
}

function isBadState(state: unknown): boolean {
  return typeof state === 'string' && BAD.includes(state.toLowerCase())
}

/** When a token expires, by the name of each member that says so. */
export function expiriesOf(answer: Members): readonly (readonly [name: string, value: unknown])[] {
  const found: (readonly [string, unknown])[] = []
  for (const name of EXPIRIES) {
    const value = answer[name]
    if (value !== undefined && value !== null) found.push([name, value])
  }
  return found
}
