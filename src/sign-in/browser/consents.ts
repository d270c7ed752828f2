/** What people have agreed to, by person and client. */
import { digest } from '../../definition/digest.ts'
import type { PageClient } from '../pages/model.ts'
import { clientShown, isLoopbackUrl, type Signing } from '../signing.ts'
import type { AuthorizationRequest, ClientRecord, LibraryHelpers } from '../tokens/library.ts'
import type { Unit } from '../unit.ts'
import { storeUpstreamTokens } from '../upstream/tokens.ts'
import type { Arrived } from './person.ts'

const REMEMBERED_MS = 90 * 24 * 60 * 60 * 1000

interface Consent {
  readonly clientId: string
  readonly scopes: readonly string[]
}

/** `metadata` of a grant: what its person sees of it. */
export interface ConnectionShown {
  readonly client: Omit<PageClient, 'redirectUri'>
}

export async function consentKey(sub: string, clientId: string, redirectUri: string): Promise<string> {
  return `consent:${sub}:${await digest(JSON.stringify([clientId, redirectUri]))}`
}

/**
 * Whether this person let this client in before, at this redirect URI, with these scopes or more. Apps on a computer are never remembered:
 * any other program may use their name and address (RFC 8252 §8.6).
 */
export async function isRemembered(unit: Unit, request: AuthorizationRequest, sub: string): Promise<boolean> {
  if (isLoopbackUrl(request.redirectUri)) return false
  const text = await unit.read(await consentKey(sub, request.clientId, request.redirectUri))
  if (text === undefined) return false
  const { scopes } = JSON.parse(text) as Consent
  return request.scope.every((scope) => scopes.includes(scope))
}

/** Issues the code, and remembers what was agreed to. Returns where the browser goes. */
export async function complete(
  signing: Signing,
  unit: Unit,
  helpers: LibraryHelpers,
  request: AuthorizationRequest,
  client: ClientRecord | null,
  { person, tokens }: Arrived,
): Promise<string> {
  const { redirectUri: _uri, ...shown } = clientShown(request, client)
  const metadata: ConnectionShown = { client: shown }
  const { redirectTo } = await helpers.completeAuthorization({
    request,
    userId: person.sub,
    metadata,
    scope: request.scope,
    props: { name: person.name, email: person.email, claims: person.claims },
    revokeExistingGrants: false,
  })
  const grantId = new URL(redirectTo).searchParams.get('code')?.split(':')[1]
  if (grantId === undefined) throw new Error('The OAuth library issued a code of another form.')
  await storeUpstreamTokens(signing, unit, person.sub, grantId, tokens)
  const consent: Consent = { clientId: request.clientId, scopes: request.scope }
  const key = await consentKey(person.sub, request.clientId, request.redirectUri)
  unit.put(key, JSON.stringify(consent), Date.now() + REMEMBERED_MS)
  return redirectTo
}
