/**
 * A caller that the host's own code has authenticated before the server runs, such as Express middleware that sets `req.auth`.
 */
import { isObject } from '../definition/is-object.ts'
import type { Caller } from '../request/access.ts'
import { ownAuth } from '../request/own-auth.ts'
import { toIdentity } from './identity.ts'
import { createScopedAccess } from './scoped-access.ts'
import { UNKNOWN_CALLER } from './unknown-caller.ts'

/**
 * Reads `{ token, clientId, scopes }` as the official SDK's `requireBearerAuth` sets it, the claims of a JWT, or `{ payload, token }`.
 * Trusts them, since the host checked the token. A caller whose `expiresAt` is past is refused later, on admission. Undefined if the host
 * set none.
 *
 * @throws Error for a value that is not clearly an identity.
 */
export async function toCaller(said: unknown): Promise<Caller | undefined> {
  if (said === undefined || said === null || said === false) return undefined
  if (!isObject(said)) throw new TypeError('It is not an object.')
  const token = typeof said.token === 'string' ? said.token : ''
  const claims = isObject(said.payload) ? said.payload : said
  // A caller with neither a name nor a token must not equal any other caller.
  const identity = await toIdentity(claims, token === '' ? crypto.randomUUID() : token)
  return { auth: ownAuth({ ...identity, token }), access: createAccess([...identity.scopes]) }
}

/** A caller that the host did not identify, or not in a readable form. */
export function unknownCaller(): Caller {
  return { auth: undefined, access: UNKNOWN_CALLER }
}

/** The challenge names no metadata, since the host decides who issues tokens. */
function createAccess(granted: readonly string[]): Caller['access'] {
  return createScopedAccess(granted, [], () => undefined)
}
