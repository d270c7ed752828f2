/** Clients that prove with a key of their own that they are meant (RFC 7523 §2.2): `private_key_jwt`. */
import { type JWTVerifyGetKey, jwtVerify } from 'jose'
import { digest } from '../../definition/digest.ts'
import { isA } from '../../definition/error-text.ts'
import type { Signing } from '../signing.ts'
import type { Unit } from '../unit.ts'
import { ClientLimitError, ClientUnreachableError } from './documents.ts'
import { UnreachableUrlError } from './public-fetch.ts'

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

/** An assertion that is the client's, for this server, current, and not used before. */
export interface Proof {
  /** The unit stores that it was used. */
  use(): void
}

/**
 * Undefined: it proves nothing. Anybody may have a client with keys, so what is refused after the proof is not stored.
 *
 * @throws ClientUnreachableError if its keys are at a URL that does not answer, or ClientLimitError.
 */
export async function readAssertion(
  assertion: string,
  clientId: string,
  keys: JWTVerifyGetKey,
  { place }: Signing,
  unit: Unit,
): Promise<Proof | undefined> {
  if (assertion.length > MAX_CHARACTERS) return undefined
  try {
    const { payload } = await jwtVerify(assertion, keys, {
      algorithms: ASSERTION_ALGORITHMS,
      issuer: clientId,
      subject: clientId,
      // Not the token endpoint: another server can name ours as its own, and have clients sign for it (draft-ietf-oauth-rfc7523bis §4).
      audience: place.issuer,
      clockTolerance: 30,
      requiredClaims: ['exp', 'jti'],
    })
    const { aud, exp = 0, jti } = payload
    // One for several servers could be used at each of them.
    if (Array.isArray(aud) && aud.length !== 1) return undefined
    if (typeof jti !== 'string' || jti === '' || exp > Date.now() / 1000 + MAX_SECONDS) return undefined
    const key = `assertion:${await digest(JSON.stringify([clientId, jti]))}`
    if ((await unit.read(key)) !== undefined) return undefined
    return { use: () => unit.put(key, '1', (exp + 60) * 1000) }
  } catch (cause) {
    if (isA(cause, ClientLimitError)) throw cause
    if (!isA(cause, UnreachableUrlError)) return undefined
    throw new ClientUnreachableError(`The keys of the client ${clientId} cannot be reached.`, { cause })
  }
}
