/**
 * A caller whom the host's own code has let in before the server was asked: what middleware of Express puts on its request.
 */
import type { Caller } from '../request/access.ts'
import { toIdentity } from './identity.ts'
import { createScopedAccess } from './scoped-access.ts'

type Members = { readonly [member: string]: unknown }

/**
 * Reads `{ token, clientId, scopes }` as the official SDK's `requireBearerAuth` sets it, the claims of a JWT, or `{ payload, token }`.
 * Believes them: the host has checked the token and its expiry. Undefined where nothing is said.
 *
 * @throws Error for what is not clearly an identity.
 */
export async function toCaller(said: unknown): Promise<Caller | undefined> {
  if (said === undefined || said === null || said === false) return undefined
  if (!isObject(said)) throw new TypeError('It is not an object.')
  const token = typeof said.token === 'string' ? said.token : ''
  const claims = isObject(said.payload) ? said.payload : said
  // A caller with neither a name nor a token equals no other caller.
  const identity = await toIdentity(claims, token === '' ? crypto.randomUUID() : token)
  return { auth: { ...identity, token }, access: createAccess([...identity.scopes]) }
}

/** Somebody whom the host knows and we do not: has no scopes. */
export function unknownCaller(): Caller {
  return { auth: undefined, access: createAccess([]) }
}

/** The challenge names no metadata: who issues tokens is the host's to say. */
function createAccess(granted: readonly string[]): Caller['access'] {
  return createScopedAccess(granted, [], () => undefined)
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
