/** The state of a walk, and the result of a step. */
import type { Profile } from '../clients/profile.ts'
import type { Endpoint } from '../endpoint.ts'
import type { JsonObject } from '../messages.ts'
import { type Outcome, type Stop, untried } from '../outcome.ts'
import type { Wire } from '../wire.ts'

export interface Trail {
  readonly profile: Profile
  readonly wire: Wire
  readonly endpoint: Endpoint
  /** Whether a client may be registered, which leaves a record at the authorization server. */
  readonly mayRegister: boolean
  /** The URL that the client uses. */
  readonly url: URL
  /** Whether the server requires no token; undefined until the first request. */
  readonly isOpen?: boolean
  readonly challenge?: Challenge
  /** The protected resource metadata that the client uses. */
  readonly resource?: JsonObject
  /** The authorization servers that it looks at, in order. */
  readonly issuers?: readonly string[]
  /** The authorization server's metadata that it uses. */
  readonly server?: JsonObject
}

export interface Challenge {
  readonly metadataUrl?: string
  readonly scopes: readonly string[]
}

export interface Stepped {
  readonly outcome: Outcome
  /** For the steps that follow. */
  readonly found?: Partial<Trail>
  /** What the rest of the sign-in is reported as, although nothing is wrong. */
  readonly signInEnds?: Outcome
}

/** A step that ended early, for example at a rate limit, was not tried. */
export function stopped({ outcome }: Stop): Outcome {
  return outcome.verdict === 'skipped' ? untried(outcome.detail, 'check again later') : outcome
}

/** Additional headers of the client. */
export function headersOf({ profile }: Trail): { readonly [name: string]: string } {
  return profile.userAgent === undefined ? {} : { 'user-agent': `${profile.userAgent} mayfly-check` }
}
