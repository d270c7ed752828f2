/**
 * The tokens that were verified with the issuer's present keys: a caller sends one with each call, and checking its signature costs as much
 * as all else of a call.
 */
import type { JWTPayload, JWTVerifyResult } from 'jose'
import { setNewest } from '../definition/set-newest.ts'
import { clientOf } from './identity.ts'

/** Of some kilobytes each, in the order in which they came. */
const MAX_TOKENS = 100
/** So that somebody who fetches many tokens does not push out those of all others. */
const MAX_TOKENS_OF_ONE = 25

type Header = JWTVerifyResult['protectedHeader']

/** What a signature covers. */
export interface Signed {
  readonly header: Header
  /** An object of its own for each caller of the function: tools may change it. */
  readonly claims: JWTPayload
}

export interface VerifiedTokens {
  /** @param version Which keys are the present ones. Undefined: none, so that no token is known. */
  find(token: string, version: number | undefined): Signed | undefined
  /** Only for a token whose signature these keys have verified. Nothing happens if they are no longer the present ones. */
  add(token: string, signed: Signed, version: number | undefined): void
}

/** Forgets all when the keys are others. Whether a token has expired is not its matter: that is checked in each call. */
export function createVerifiedTokens(): VerifiedTokens {
  let current: number | undefined
  const tokens = new Map<string, Known>()
  const makeRoom = (owner: unknown): void => {
    const own = [...tokens].filter(([, known]) => known.owner === owner)
    if (own.length >= MAX_TOKENS_OF_ONE) tokens.delete(own[0]![0])
  }
  return {
    find(token, version) {
      if (version !== current) tokens.clear()
      current = version
      const known = tokens.get(token)
      return known && { header: known.header, claims: JSON.parse(known.claims) as JWTPayload }
    },
    add(token, { header, claims }, version) {
      if (version === undefined || version !== current) return
      // A user, or a client that acts for itself.
      const owner = claims.sub ?? clientOf(claims)
      makeRoom(owner)
      setNewest(tokens, token, { header, claims: JSON.stringify(claims), owner }, MAX_TOKENS)
    },
  }
}

interface Known {
  readonly header: Header
  readonly claims: string
  readonly owner: unknown
}
