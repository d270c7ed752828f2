/** What one request of sign-in has at hand, and the answers that its steps share. */
import type { Documents } from './clients/documents.ts'
import type { Machines } from './clients/machines.ts'
import { openClient } from './clients/sealed-client.ts'
import type { SignInKeys } from './keys.ts'
import type { PageClient, PageScope, SignInPage } from './pages/model.ts'
import { pagePolicy, renderPage } from './pages/pages.ts'
import type { Place } from './place.ts'
import type { GrantStore } from './store/store.ts'
import {
  type AuthorizationRequest,
  type ClientRecord,
  type LibraryFailure,
  type LibraryServer,
  OAuthAuthorizationServer,
} from './tokens/library.ts'
import { inOneUnit, type Unit } from './unit.ts'
import type { Upstream } from './upstream/upstream.ts'

export interface Signing {
  readonly env: unknown
  readonly place: Place
  readonly store: GrantStore
  readonly keys: SignInKeys
  readonly upstream: Upstream
  /** What clients may ask for, with the sentence for the page. */
  readonly scopes: { readonly [name: string]: string }
  /** What a request without scopes asks for. */
  readonly initialScopes: readonly string[]
  readonly lifetimes: Lifetimes
  readonly machines: Machines
  /** The server's name for people. */
  readonly name: string
  /** Whose request it is, for limits. Undefined: unknown. */
  readonly address: string | undefined
  readonly documents: Documents
  report(error: unknown): void
  /** Keeps the invocation alive for work after the answer, where the platform can. */
  waitUntil(work: Promise<unknown>): void
  /** The same for what only the operator can change: an error with the same text is reported once in the life of the process. */
  reportOnce(error: unknown): void
  /** The same for what strangers can cause: one a minute of each kind, of a fixed list of kinds. */
  reportSeldom(kind: string, error: unknown): void
}

export interface Lifetimes {
  /** Seconds for an access token. */
  readonly access: number
  /** Seconds for which a connection may be unused. */
  readonly idle: number
}

/** Dynamically registered clients that have been used, in seconds: at least. */
const REGISTRATION_SECONDS = 90 * 24 * 60 * 60

/** Runs `work` as one unit, with the documents of clients that it needs fetched once. */
export function asUnit<Result>(
  signing: Signing,
  work: (unit: Unit) => Promise<Result>,
  attempts?: number,
): Promise<Result> {
  const found = new Map<string, Promise<ClientRecord | undefined>>()
  const find = (id: string): Promise<ClientRecord | undefined> =>
    id.startsWith('https:') ? signing.documents.client(id, signing) : openClient(signing, id)
  const client = (id: string): Promise<ClientRecord | undefined> => {
    const known = found.get(id) ?? find(id)
    found.set(id, known)
    return known
  }
  return inOneUnit(signing.store, client, work, attempts)
}

export function libraryFor(
  { place, scopes, lifetimes }: Signing,
  onError: (failure: LibraryFailure) => void = () => {},
): LibraryServer {
  return new OAuthAuthorizationServer({
    issuer: place.issuer,
    resources: [place.resource],
    scopesSupported: Object.keys(scopes),
    authorizeEndpoint: place.authorize,
    tokenEndpoint: place.token,
    clientRegistrationEndpoint: place.register,
    accessTokenTTL: lifetimes.access,
    refreshTokenTTL: lifetimes.idle,
    refreshTokenIdleTTL: lifetimes.idle,
    // Prolonged in its second half: a client lasts as long as the connections that it may have.
    clientRegistrationTTL: Math.max(REGISTRATION_SECONDS, 2 * lifetimes.idle),
    onError: (failure) => onError(failure),
  })
}

export function pageResponse(page: SignInPage, status = 200): Response {
  return new Response(renderPage(page), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy(page),
      'x-frame-options': 'DENY',
      ...PRIVATE,
    },
  })
}

export const PRIVATE = {
  'cache-control': 'no-store',
  // Not `no-referrer`: with it, browsers send forms with `Origin: null`, as if they came from elsewhere (Fetch, "Origin header").
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

export function errorPage(
  { name }: Signing,
  status: number,
  title: string,
  message: string,
  returnTo?: string,
  cookies: readonly string[] = [],
): Response {
  const link = returnTo === undefined ? {} : { returnTo: { url: returnTo, host: hostShown(returnTo) } }
  const response = pageResponse({ page: 'error', server: name, title, message, ...link }, status)
  if (status === 503 || status === 429) response.headers.set('retry-after', status === 429 ? '60' : '5')
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

/** 303: the browser follows with GET. The last cookie is the one to go on with: a load balancer of AWS may send no other. */
export function seeOther(url: string, cookies: readonly string[] = []): Response {
  const response = new Response(null, { status: 303, headers: { location: url, ...PRIVATE } })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

/** RFC 6749 §5.2. */
export function oauthError(status: number, error: string, description: string): Response {
  const headers = {
    'content-type': 'application/json',
    pragma: 'no-cache',
    ...PRIVATE,
    ...(status === 503 || status === 429 ? { 'retry-after': status === 429 ? '60' : '5' } : {}),
  }
  return new Response(JSON.stringify({ error, error_description: description }), { status, headers })
}

/** What people are shown of a client: what it says of itself, and what is verified. */
export function clientShown(
  request: AuthorizationRequest,
  client: ClientRecord | null,
): Omit<PageClient, 'redirectUri'> {
  const { clientId, redirectUri } = request
  const name = client?.clientName?.trim() || clientId
  return {
    name: name.length > 100 ? `${name.slice(0, 100)}…` : name,
    ...(clientId.startsWith('https:') && { host: new URL(clientId).host }),
    redirectHost: hostShown(redirectUri),
    isLoopback: isLoopbackUrl(redirectUri),
  }
}

export function scopesShown(signing: Signing, scopes: readonly string[]): PageScope[] {
  return offered(scopes, signing).map((name) => ({ name, sentence: signing.scopes[name]! }))
}

/** Of a connection's scopes those that the operator still has: one that was taken out of `scopes` counts nowhere any more. */
export function offered(scopes: readonly string[], signing: Pick<Signing, 'scopes'>): string[] {
  return scopes.filter((name) => Object.hasOwn(signing.scopes, name))
}

/** A scheme of an app has no host. */
function hostShown(url: string): string {
  const { host, protocol } = new URL(url)
  return host || protocol
}

/** RFC 8252 §7.3. Any program of the computer may listen there. */
export function isLoopbackUrl(url: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}

/** Whether a form was sent from one of the pages. Browsers say so; a request that says nothing is not from a browser, and has no cookies of one. */
export function isFromHere(request: Request, { issuer }: Place): boolean {
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (origin !== null) return origin === new URL(issuer).origin
  return site === null || site === 'same-origin' || site === 'none'
}
