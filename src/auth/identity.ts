/**
 * Converts a verifier's answer to an identity. Refuses answers that are not clearly one.
 */

import type { AuthInfo } from '../definition/context.ts'
import { sha256 } from '../definition/digest.ts'
import { isObject } from '../definition/is-object.ts'
import { toScopes } from './scopes.ts'
import { InvalidTokenError, VerifierMisconfiguredError } from './verifier.ts'

export type Identity = Omit<AuthInfo, 'token'>

type Members = { readonly [member: string]: unknown }

/** Members that say whether a token is valid: each one present must be `true`. Only the first two are sufficient by themselves. */
const VERDICTS = ['valid', 'active', 'ok', 'success', 'isValid', 'verified', 'authenticated', 'authorized']

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
  checkVerdicts(answer)
  const { valid, active, clientId, client_id, azp, scopes, scope, expiresAt, exp, ...others } = answer
  const { sub, subject, resource, extra: _extra, token: _token, ...rest } = others
  const { sub: own, ...details } = { ...rest, ...toExtra(others.extra) }
  const user = [own, sub, subject].find(isGiven)
  const client = [clientId, client_id, azp, user].find(isGiven)
  if (client === undefined && valid !== true && active !== true) {
    throw misconfigured('has no client id and no subject')
  }
  checkName('subject', user)
  checkName('clientId', client)
  const expiry = toExpiry(expiresAt ?? exp)
  const known = { ...details, ...(user !== undefined && { sub: user }) }
  return {
    clientId: client === undefined ? await derivedClient(token) : String(client),
    scopes: readScopes(scopes ?? scope),
    ...(expiry !== undefined && { expiresAt: expiry }),
    ...(resource instanceof URL && { resource }),
    ...(Object.keys(known).length > 0 && { extra: known }),
  }
}

function checkVerdicts(answer: Members): void {
  const verdicts = VERDICTS.filter((name) => name in answer).map((name) => answer[name])
  if (verdicts.some((verdict) => verdict === false || verdict === undefined || verdict === null)) {
    throw invalidToken()
  }
  if (verdicts.some((verdict) => verdict !== true))
    throw misconfigured('does not say whether the token is valid')
  if (answer.error !== undefined && answer.error !== null && answer.error !== false) throw invalidToken()
}

function isGiven(name: unknown): boolean {
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

/** Seconds since the epoch. */
function toExpiry(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const number = value instanceof Date ? value.getTime() : value
  if (typeof number !== 'number' || Number.isNaN(number)) {
    throw misconfigured('has an "expiresAt" that is not a number of seconds')
  }
  return value instanceof Date || number >= LEAST_MILLISECONDS ? Math.floor(number / 1000) : number
}

/** Deterministic, and does not reveal the token, which is long and random. */
async function derivedClient(token: string): Promise<string> {
  const bytes = (await sha256(token)).subarray(0, DIGEST_BYTES)
  return `token-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

function invalidToken(): InvalidTokenError {
  return new InvalidTokenError('The token is not valid.')
}

function misconfigured(what: string): VerifierMisconfiguredError {
  return new VerifierMisconfiguredError(
    `The function that checks tokens returned something that ${what}: return { clientId, scopes } for a valid token, undefined for any other.`,
  )
}
