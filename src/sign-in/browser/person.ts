/** Who signed in, as sign-in records it. */
import { digest } from '../../definition/digest.ts'
import type { StoredTokens } from '../upstream/tokens.ts'
import { UpstreamFault, type UpstreamIdentity } from '../upstream/upstream.ts'

export interface Person {
  /** `ctx.auth.subject`: the same forever, and without meaning elsewhere. */
  readonly sub: string
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly claims: { readonly [name: string]: unknown }
}

const SUBJECT_CHARACTERS = 32
/** Of the claims as JSON: every access token has them in the store. */
export const MAX_CLAIMS_CHARACTERS = 8192
/** They are kept before others. */
const FIRST = ['name', 'email', 'email_verified']

/** `leftOut`: the names of the claims for which there is no room. */
export async function personOf({
  issuer,
  subject,
  name,
  email,
  claims,
}: UpstreamIdentity): Promise<{ readonly person: Person; readonly leftOut: readonly string[] }> {
  const { kept, leftOut } = thatFit(JSON.parse(JSON.stringify(claims)) as Person['claims'])
  const person = {
    sub: (await digest(JSON.stringify([issuer, subject]))).slice(0, SUBJECT_CHARACTERS),
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    claims: kept,
  }
  return { person, leftOut }
}

/**
 * All people whom a provider of somebody's own does not name would be one person.
 *
 * @throws UpstreamFault for an identity without an issuer and a subject.
 */
export function requireNamed(identity: UpstreamIdentity): UpstreamIdentity {
  for (const member of ['issuer', 'subject'] as const)
    if (typeof identity?.[member] !== 'string' || identity[member] === '')
      throw new UpstreamFault(
        'misconfigured',
        `The identity of "exchange" needs a "${member}" that is not empty.`,
      )
  return identity
}

/** In their order; one that is too long leaves its room to those after it. */
function thatFit(claims: Person['claims']): { kept: Person['claims']; leftOut: readonly string[] } {
  const kept = new Set<string>()
  let characters = 2
  for (const name of [...FIRST.filter((one) => Object.hasOwn(claims, one)), ...Object.keys(claims)]) {
    if (kept.has(name)) continue
    const more = JSON.stringify({ [name]: claims[name] }).length
    if (characters + more > MAX_CLAIMS_CHARACTERS) continue
    characters += more
    kept.add(name)
  }
  const all = Object.entries(claims)
  return {
    kept: Object.fromEntries(all.filter(([name]) => kept.has(name))),
    leftOut: all.flatMap(([name]) => (kept.has(name) ? [] : name)),
  }
}

/** What the sealed record of a consent has, until somebody decides. */
export interface Arrived {
  readonly person: Person
  readonly tokens: StoredTokens
}
