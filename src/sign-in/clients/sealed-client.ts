/**
 * Registrations that are stored nowhere: the id of the client contains what it registered, sealed (RFC 7591, appendix A.5.2, "Stateless
 * Client Registration"). So those who have spent what may be stored keep nobody from registering. Valid for as long as the secret is.
 */
import { isObject } from '../../definition/is-object.ts'
import type { SignInKeys } from '../keys.ts'
import type { ClientRecord } from '../tokens/library.ts'

/** It is in URLs, cookies and tokens. */
const MAX_ID_CHARACTERS = 1500

/** What no request needs. */
const LEFT_OUT: readonly string[] = [
  'clientId',
  'logoUri',
  'clientUri',
  'policyUri',
  'tosUri',
  'jwksUri',
  'i18n',
  'contacts',
  'registrationExpiresAt',
]

interface Sealing {
  readonly keys: SignInKeys
  readonly place: { readonly issuer: string }
}

/** The purpose contains the issuer: several servers may have one secret. */
const purposeOf = ({ place }: Sealing): string => `client:${place.issuer}`

/** The id of the client. Undefined: it would be too long. */
export async function sealClient(signing: Sealing, client: ClientRecord): Promise<string | undefined> {
  const kept = Object.entries(client).filter(([name]) => !LEFT_OUT.includes(name))
  const id = await signing.keys.seal(purposeOf(signing), Object.fromEntries(kept))
  return id.length > MAX_ID_CHARACTERS ? undefined : id
}

/** Undefined: this server did not make the id. */
export async function openClient(signing: Sealing, id: string): Promise<ClientRecord | undefined> {
  if (id.length > MAX_ID_CHARACTERS) return undefined
  const opened = await signing.keys.open(purposeOf(signing), id)
  return isObject(opened) ? ({ ...opened, clientId: id } as unknown as ClientRecord) : undefined
}
