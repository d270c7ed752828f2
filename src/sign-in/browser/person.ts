/** Who signed in, as sign-in records it. */
import { digest } from '../../definition/digest.ts'
import type { UpstreamIdentity, UpstreamTokens } from '../upstream/upstream.ts'

export interface Person {
  /** `ctx.auth.extra.sub`: the same forever, and without meaning elsewhere. */
  readonly sub: string
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly claims: { readonly [name: string]: unknown }
}

const SUBJECT_CHARACTERS = 32
/** Of the claims as JSON. */
const MAX_CLAIMS_CHARACTERS = 8192

export async function personOf({ issuer, subject, name, email, claims }: UpstreamIdentity): Promise<Person> {
  const text = JSON.stringify(claims)
  return {
    sub: (await digest(JSON.stringify([issuer, subject]))).slice(0, SUBJECT_CHARACTERS),
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    claims: text.length > MAX_CLAIMS_CHARACTERS ? {} : (JSON.parse(text) as Person['claims']),
  }
}

/** What the sealed record of a consent has, until somebody decides. */
export interface Arrived {
  readonly person: Person
  readonly tokens: UpstreamTokens
}
