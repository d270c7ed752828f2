/**
 * A caller that the host's own code has authenticated before the server runs, such as Express middleware that sets `req.auth`.
 */
import { isObject } from '../definition/is-object.ts'
import type { Caller } from '../request/access.ts'
import { ownAuth, withMembers } from '../request/own-auth.ts'
import { clientOf, isGiven, toIdentity } from './identity.ts'
import { createScopedAccess } from './scoped-access.ts'
import { UNKNOWN_CALLER } from './unknown-caller.ts'
import { expiriesOf, verdictOf } from './verdict.ts'

/**
 * Reads `{ token, clientId, scopes }` as the official SDK's `requireBearerAuth` sets it, the claims of a JWT, or `{ payload, token }`.
 * Trusts them, since the host checked the token. What stands beside a `payload` wins, such as fewer scopes; the payload adds what is missing,
 * such as the subject. If they name two clients or subjects, it is not an identity. A caller whose `expiresAt` is past is refused later, on admission. Undefined if the host
 * set none.
 *
 * @throws Error for a value that is not clearly an identity.
 */
export async function toCaller(said: unknown): Promise<Caller | undefined> {
  if (said === undefined || said === null || said === false) return undefined
  if (!isObject(said)) throw new TypeError('It is not an object.')
  const token = typeof said.token === 'string' ? said.token : ''
  const claims = isObject(said.payload) ? together(said, said.payload) : said
  // A caller with neither a name nor a token must not equal any other caller.
  const identity = await toIdentity(claims, token === '' ? crypto.randomUUID() : token)
  const auth = ownAuth(withMembers(identity, { token }))
  return { auth, access: { ...createAccess([...identity.scopes]), said } }
}

type Members = { readonly [member: string]: unknown }

/** Without the decoded header of a JWT, which says nothing about the caller. */
function together(said: Members, payload: Members): Members {
  const { payload: _, header: _header, protectedHeader: _protected, ...own } = said
  for (const nameOf of [clientOf, subjectOf]) {
    const [one, other] = [nameOf(own), nameOf(payload)]
    if (one !== undefined && other !== undefined && String(one) !== String(other))
      throw new TypeError('It names one caller, and its payload another.')
  }
  const scopes = own.scopes ?? own.scope ?? payload.scopes ?? payload.scope
  if (verdictOf(payload) !== 'good') throw new TypeError('Its payload says that the token is not valid.')
  const hidden = expiriesOf(own).length === 0 ? [] : expiriesOf(payload).map(([name]) => name)
  const claims = Object.entries(payload).filter(([name]) => !hidden.includes(name))
  return { ...Object.fromEntries(claims), claims: payload, ...own, scopes }
}

function subjectOf({ sub, subject, extra }: Members): unknown {
  return [isObject(extra) ? extra.sub : undefined, sub, subject].find(isGiven)
}

/** A caller that the host did not identify, or not in a readable form: `said`. */
export function unknownCaller(said?: unknown): Caller {
  return { auth: undefined, access: said === undefined ? UNKNOWN_CALLER : { ...UNKNOWN_CALLER, said } }
}

/** The challenge names no metadata, since the host decides who issues tokens. */
function createAccess(granted: readonly string[]): Caller['access'] {
  return createScopedAccess(granted, [], () => undefined)
}
