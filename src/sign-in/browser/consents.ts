/** What people have agreed to, by person and client. */
import { digest } from '../../definition/digest.ts'
import type { PageClient } from '../pages/model.ts'
import { isLoopbackUrl, libraryFor, type Signing } from '../signing.ts'
import type { AuthorizationRequest } from '../tokens/library.ts'
import type { Unit } from '../unit.ts'
import { storeUpstreamTokens } from '../upstream/tokens.ts'
import type { Arrived, Person } from './person.ts'

const REMEMBERED_MS = 90 * 24 * 60 * 60 * 1000

/** A client as a person was shown it, and agreed to it. */
export type ClientSeen = Omit<PageClient, 'redirectUri'>

interface Consent {
  readonly clientId: string
  readonly name: string
  readonly scopes: readonly string[]
}

/** What each access token knows of its person. */
export interface Props extends Pick<Person, 'name' | 'email' | 'claims'> {
  /** `providerOf` when the person signed in. */
  readonly provider: string | undefined
}

/** `metadata` of a grant: what its person sees of it. */
export interface ConnectionShown {
  readonly client: ClientSeen
}

export async function consentKey(sub: string, clientId: string, redirectUri: string): Promise<string> {
  return `consent:${sub}:${await digest(JSON.stringify([clientId, redirectUri]))}`
}

/**
 * Whether this person let this client in before, under this name, at this redirect URI, with these scopes or more. Apps on a computer are
 * never remembered: any other program may use their name and address (RFC 8252 §8.6).
 */
export async function isRemembered(
  unit: Unit,
  request: AuthorizationRequest,
  { name }: ClientSeen,
  sub: string,
): Promise<boolean> {
  if (isLoopbackUrl(request.redirectUri)) return false
  const text = await unit.read(await consentKey(sub, request.clientId, request.redirectUri))
  if (text === undefined) return false
  const agreed = JSON.parse(text) as Consent
  return agreed.name === name && request.scope.every((scope) => agreed.scopes.includes(scope))
}

/**
 * Issues the code, and remembers what was agreed to. Returns where the browser goes.
 *
 * @throws AuthorizationError if the client does not take it any more.
 */
export async function complete(
  signing: Signing,
  unit: Unit,
  request: AuthorizationRequest,
  client: ClientSeen,
  { person, tokens }: Arrived,
): Promise<string> {
  const metadata: ConnectionShown = { client }
  const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
  const { redirectTo } = await helpers.completeAuthorization({
    request,
    userId: person.sub,
    metadata,
    scope: request.scope,
    props: {
      name: person.name,
      email: person.email,
      claims: person.claims,
      provider: tokens.provider,
    } satisfies Props,
    revokeExistingGrants: false,
  })
  const grantId = new URL(redirectTo).searchParams.get('code')?.split(':')[1]
  if (grantId === undefined) throw new Error('The OAuth library issued a code of another form.')
  await storeUpstreamTokens(signing, unit, person.sub, grantId, tokens)
  const consent: Consent = { clientId: request.clientId, name: client.name, scopes: request.scope }
  const key = await consentKey(person.sub, request.clientId, request.redirectUri)
  unit.put(key, JSON.stringify(consent), Date.now() + REMEMBERED_MS)
  return redirectTo
}
