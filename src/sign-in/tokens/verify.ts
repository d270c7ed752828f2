/** Checks access tokens of sign-in: whether the store knows them, and whether their connection still exists. */
import { InvalidTokenError, VerifierUnavailableError } from '../../auth/verifier.ts'
import { textOf } from '../../definition/error-text.ts'
import type { Props } from '../browser/consents.ts'
import type { Person } from '../browser/person.ts'
import { libraryFor, offered, type Signing } from '../signing.ts'
import { isOfAnother } from '../upstream/tokens.ts'
import { grantKey } from './grants.ts'
import type { LibraryStore, Validated } from './library.ts'
import { isMachineToken, type MachineCaller, verifyMachineToken } from './machine-tokens.ts'

/** Of the library: person, grant and 32 random characters. */
const TOKEN = /^([\w-]{1,64}):([\w-]{16}):[\w-]{32}$/

export function isSignInToken(token: string): boolean {
  return TOKEN.test(token) || isMachineToken(token)
}

/** The caller of a valid token. */
export interface SignedIn {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Seconds since the epoch. */
  readonly expiresAt: number
  readonly claims: Person['claims']
  readonly extra: Omit<Person, 'claims'> & {
    /** The identifier of the connection, which is the same for all its tokens. */
    readonly connection: string
    readonly [name: string]: unknown
  }
}

/** Who has a valid token. */
export type Caller = SignedIn | MachineCaller

/** @throws InvalidTokenError, or VerifierUnavailableError if the store does not answer. */
export async function verifyToken(token: string, signing: Signing): Promise<Caller> {
  if (isMachineToken(token)) return verifyMachineToken(token, signing)
  const [, sub, grantId] = TOKEN.exec(token) ?? []
  if (sub === undefined || grantId === undefined)
    throw new InvalidTokenError('The token is not one of this server.')
  let grant: unknown
  let validated: Validated | null
  try {
    const reading: LibraryStore = {
      ...NO_WRITES,
      async get(key) {
        const entry = await signing.store.read(key)
        return entry === undefined ? null : JSON.parse(entry.value)
      },
    }
    ;[grant, validated] = await Promise.all([
      signing.store.read(grantKey(sub, grantId)),
      libraryFor(signing).validateToken(signing.place.resource, token, { OAUTH_KV: reading }),
    ])
  } catch (cause) {
    throw new VerifierUnavailableError(`The store of grants failed: ${textOf(cause)}`, { cause })
  }
  if (validated === null) throw new InvalidTokenError('The token is not valid, or has expired.')
  if (grant === undefined) throw new InvalidTokenError('The connection was ended: sign in again.')
  const { name, email, claims, provider } = validated.props as Props
  if (isOfAnother(signing, { provider }))
    throw new InvalidTokenError('This server has another identity provider now: sign in again.')
  return {
    clientId: validated.clientId,
    scopes: offered(validated.scope, signing),
    expiresAt: validated.expiresAt,
    claims,
    extra: {
      sub,
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
      connection: grantId,
    },
  }
}

const refuse = async (): Promise<never> => {
  throw new Error('A check of a token writes nothing.')
}
const NO_WRITES = { put: refuse, delete: refuse, list: refuse }
