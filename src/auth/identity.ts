/**
 * Converts a verifier's answer to an identity. Refuses answers that are not clearly one.
 */

import type { AuthInfo } from '../definition/context.ts'
import { sha256 } from '../definition/digest.ts'
import { isObject } from '../definition/is-object.ts'
import { withUpstreamToken } from '../request/own-auth.ts'
import { toScopes } from './scopes.ts'
import { expiriesOf, verdictOf } from './verdict.ts'
import { type InvalidTokenError, UnknownTokenError, VerifierMisconfiguredError } from './verifier.ts'

export type Identity = Omit<AuthInfo, 'token'>

type Members = { readonly [member: string]: unknown }

/** In seconds this is the year 33658, in milliseconds 2001, so larger numbers are milliseconds. */
const LEAST_MILLISECONDS = 1e12

/** 128 bits of a digest. */
const DIGEST_BYTES = 16

/**
 * Reads a verifier's answer for `token`. If it names neither client nor subject, the client is derived from the token: otherwise all such
 * tokens would share one principal.
 *
 * @throws InvalidTokenError for a negative answer; VerifierMisconfiguredError for one that is not an identity.
 */
export async function toIdentity(answer: unknown, token: string): Promise<Identity> {
  if (answer === undefined || answer === null || answer === false) throw invalidToken()
  if (!isObject(answer)) throw misconfigured('is not an object')
  // The claims, if it is what a JWT library returned together with more.
  const payload = isObject(answer.payload) ? answer.payload : undefined
  requireGood(answer)
  if (payload !== undefined) requireGood(payload)
  const {
    valid,
    active,
    clientId,
    client_id,
    azp,
    scopes,
    scope,
    expiresAt: _end,
    exp: _exp,
    ...others
  } = answer
  if (others.claims !== undefined && !isObject(others.claims))
    throw misconfigured('has "claims" that are not an object')
  const { sub, subject, claims, resource, upstreamToken, extra: _extra, token: _token, ...rest } = others
  const { sub: own, ...details } = { ...rest, ...toExtra(others.extra) } as Members
  const user = [own, sub, subject].find(isGiven)
  const client = clientOf({ clientId, client_id, azp }) ?? user
  if (client === undefined && valid !== true && active !== true) {
    throw misconfigured('has no client id and no subject')
  }
  checkName('subject', user)
  checkName('clientId', client)
  const expiry = expiryOf(answer) ?? (payload && expiryOf(payload))
  const known = { ...details, ...(user !== undefined && { sub: user }) }
  const identity: Identity = {
    clientId: client === undefined ? await derivedClient(token) : String(client),
    scopes: readScopes(scopes ?? scope),
    ...(user !== undefined && { subject: String(user) }),
    ...(claims !== undefined && { claims: { ...claims } }),
    ...(expiry !== undefined && { expiresAt: expiry }),
    ...(resource instanceof URL && { resource }),
    ...(Object.keys(known).length > 0 && { extra: known }),
  }
  return withUpstreamToken(identity, upstreamToken as AuthInfo['upstreamToken'])
}

function requireGood(answer: Members): void {
  const verdict = verdictOf(answer)
  if (verdict === 'bad') throw invalidToken()
  if (verdict === 'unclear') throw misconfigured('does not say whether the token is valid')
}

/** The client that an answer or the claims of a JWT name. */
export function clientOf({ clientId, client_id, azp }: Members): unknown {
  return [clientId, client_id, azp].find(isGiven)
}

/** Whether it may be a name. */
export function isGiven(name: unknown): boolean {
  return name !== undefined && name !== null && name !== ''
}

/** A name of another type could become the same string for every caller. */
function checkName(what: string, name: unknown): void {
  const isName =
    name === undefined || typeof name === 'string' || typeof name === 'bigint' || Number.isFinite(name)
  if (!isName) throw misconfigured(`has a ${what} that is neither a string nor a number`)
}

function toExtra(extra: unknown): { [member: string]: unknown } {
  if (extra === undefined || extra === null) return {}
  if (!isObject(extra)) throw misconfigured('has an "extra" that is not an object')
  return extra
}

function readScopes(scopes: unknown): string[] {
  const isReadable =
    scopes === undefined ||
    scopes === null ||
    typeof scopes === 'string' ||
    (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'))
  if (!isReadable) throw misconfigured('has "scopes" that are neither a list of strings nor a string')
  return toScopes(scopes)
}

/** The earliest, in seconds since the epoch. */
function expiryOf(answer: Members): number | undefined {
  const expiries = expiriesOf(answer).map(([name, value]) => toExpiry(name, value))
  return expiries.length === 0 ? undefined : Math.min(...expiries)
}

function toExpiry(name: string, value: unknown): number {
  const number = value instanceof Date ? value.getTime() : value
  if (typeof number !== 'number' || Number.isNaN(number))
    throw misconfigured(`has "${name}", which is read as "expiresAt", but is not a number of seconds`)
  return value instanceof Date || number >= LEAST_MILLISECONDS ? Math.floor(number / 1000) : number
}

/** Deterministic, and does not reveal the token, which is long and random. */
async function derivedClient(token: string): Promise<string> {
  const bytes = (await sha256(token)).subarray(0, DIGEST_BYTES)
  return `token-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function invalidToken(): InvalidTokenError {
  return new UnknownTokenError()
}

function misconfigured(what: string): VerifierMisconfiguredError {
  return new VerifierMisconfiguredError(
    `The function that checks tokens returned something that ${what}: return { clientId, scopes } for a valid token, undefined for any other.`,
  )
}
