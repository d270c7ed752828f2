/** Clients that prove with a key of their document that they are meant (RFC 7523 §2.2): `private_key_jwt`. */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { digest } from '../../definition/digest.ts'
import { isA } from '../../definition/error-text.ts'
import { isObject } from '../../definition/is-object.ts'
import type { Signing } from '../signing.ts'
import type { Unit } from '../unit.ts'
import { type ClientDocument, ClientUnreachableError } from './documents.ts'
import { fetchPublicJson, UnreachableUrlError } from './public-fetch.ts'

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export const ASSERTION_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const MAX_CHARACTERS = 8192
/** Seconds that an assertion may be valid, from now. */
const MAX_SECONDS = 3600

/** The client that an assertion says it is from, unverified: whose document to read. */
export function assertedClient(assertion: string): string | undefined {
  try {
    const [, payload = ''] = assertion.split('.')
    const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
    const { iss } = JSON.parse(text) as { iss?: unknown }
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether an assertion is the client's, for this server, current, and used for the first time: the unit stores that it was.
 *
 * @throws ClientUnreachableError if its keys are at a URL that does not answer.
 */
export async function isAsserted(
  assertion: string,
  client: ClientDocument,
  { place, fetch }: Signing,
  unit: Unit,
): Promise<boolean> {
  if (assertion.length > MAX_CHARACTERS || client.keys === undefined) return false
  const { clientId } = client
  try {
    const keys = createLocalJWKSet(await keysOf(client.keys, fetch))
    const { payload } = await jwtVerify(assertion, keys, {
      algorithms: ASSERTION_ALGORITHMS,
      issuer: clientId,
      subject: clientId,
      audience: [place.issuer, place.token],
      clockTolerance: 30,
      requiredClaims: ['exp', 'jti'],
    })
    const { exp = 0, jti } = payload
    if (typeof jti !== 'string' || jti === '' || exp > Date.now() / 1000 + MAX_SECONDS) return false
    const key = `assertion:${await digest(JSON.stringify([clientId, jti]))}`
    if ((await unit.read(key)) !== undefined) return false
    unit.put(key, '1', (exp + 60) * 1000)
    return true
  } catch (cause) {
    if (!isA(cause, UnreachableUrlError)) return false
    throw new ClientUnreachableError(`The keys of the client ${clientId} cannot be reached.`, { cause })
  }
}

async function keysOf(
  keys: NonNullable<ClientDocument['keys']>,
  fetch: typeof globalThis.fetch,
): Promise<JSONWebKeySet> {
  const found = typeof keys === 'string' ? (await fetchPublicJson(keys, fetch)).value : keys
  if (!isObject(found) || !Array.isArray(found.keys)) return { keys: [] }
  return { keys: found.keys as JSONWebKeySet['keys'] }
}
