/**
 * Signs the user in as MCP clients do: protected resource metadata (RFC 9728), authorization server metadata (RFC 8414), registration
 * (RFC 7591), authorization code with PKCE (RFC 7636), resource indicators (RFC 8707), and the issuer in the response (RFC 9207).
 *
 * The local process fetches the documents, since authorization servers often do not allow web pages to. Tokens stay in this tab's memory.
 */
import { asOpened, mayVisit } from './dom.ts'
import { asList, asObject, asText, clip, type Json, parse, pretty, reasonOf } from './json.ts'
import { maskedText, requestText, type SignInStep } from './sign-in-steps.ts'

export interface Fetched {
  readonly status: number
  readonly body: string
}

/** Fetches a server's URLs through the local process, which refuses private networks. */
export type FetchOutside = (request: {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly contentType?: string
  readonly body?: string
}) => Promise<Fetched>

export interface SignIn {
  /** The MCP endpoint, as clients use it. */
  readonly endpoint: string
  /** The value of `WWW-Authenticate`, if there was one. */
  readonly challenge: string
  /** For authorization servers without registration. */
  readonly clientId?: string | undefined
  readonly fetchOutside: FetchOutside
  /** Called after each request with its answer, and before the page is left. */
  readonly onStep: (step: SignInStep) => void
}

/** Fetches, and records it as a step. */
type Ask = (label: string, request: Parameters<FetchOutside>[0]) => Promise<Fetched>

function recorded({ fetchOutside, onStep }: Pick<SignIn, 'fetchOutside' | 'onStep'>): Ask {
  return async (label, request) => {
    const text = requestText(request.method, request.url, request.body)
    try {
      const answer = await fetchOutside(request)
      onStep({ label, request: text, status: answer.status, answer: maskedText(answer.body, answer.status) })
      return answer
    } catch (error) {
      onStep({ label, request: text, answer: reasonOf(error) })
      throw error
    }
  }
}

interface Pending {
  readonly state: string
  readonly verifier: string
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly redirectUri: string
  readonly resource: string
  /** Of the URL, for the chosen offer: a redirect URI has none. */
  readonly hash: string
  readonly issuer: string
  readonly mustNameIssuer: boolean
}

const PENDING = 'mayfly-sign-in'
const FORM = 'application/x-www-form-urlencoded'

/** Leaves the page for the authorization server. Rejects with the error at which a client would stop. */
export async function startSignIn(signIn: SignIn): Promise<never> {
  const { endpoint, challenge, onStep } = signIn
  const ask = recorded(signIn)
  if (challenge !== '')
    onStep({
      label: 'The server asks for a token',
      request: `POST ${endpoint}`,
      status: 401,
      answer: `www-authenticate: ${clip(challenge, 2000)}`,
    })
  const resource = await findResource(endpoint, challenge, ask)
  const issuer = asText(asList(resource.authorization_servers)[0])
  if (issuer === undefined) throw new Error('the resource metadata names no authorization_servers')
  const server = await findServer(issuer, ask)
  const scopes = asList(resource.scopes_supported).filter((scope) => typeof scope === 'string')
  const scope = parameter(challenge, 'scope') ?? (scopes.join(' ') || undefined)
  const redirectUri = `${location.origin}${location.pathname}`
  const clientId = signIn.clientId ?? (await register(server, redirectUri, scope, ask))
  const verifier = random()
  const pending: Pending = {
    state: random(),
    verifier,
    tokenEndpoint: required(server, 'token_endpoint'),
    clientId,
    redirectUri,
    resource: asText(resource.resource) ?? endpoint,
    hash: location.hash,
    issuer,
    mustNameIssuer: server.authorization_response_iss_parameter_supported === true,
  }
  const page = required(server, 'authorization_endpoint')
  if (!mayVisit(page))
    throw new Error(`the authorization_endpoint is not a safe page to open: ${clip(asOpened(page), 200)}`)
  const target = new URL(page)
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: pending.state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    resource: pending.resource,
    ...(scope !== undefined && { scope }),
  }
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
  onStep({ label: 'The browser opens the sign-in page', request: requestText('GET', target.href) })
  sessionStorage.setItem(PENDING, JSON.stringify(pending))
  location.assign(target)
  // The page is being left.
  return new Promise<never>(() => {})
}

/** The token, if the page was opened by an authorization server; otherwise undefined. Rejects if it cannot get one. */
export async function finishSignIn(
  signIn: Pick<SignIn, 'fetchOutside' | 'onStep'>,
): Promise<string | undefined> {
  const query = new URLSearchParams(location.search)
  if (!query.has('state') && !query.has('code') && !query.has('error')) return undefined
  const pending = asObject(parse(sessionStorage.getItem(PENDING) ?? '')) as Partial<Pending>
  sessionStorage.removeItem(PENDING)
  const returned = requestText('GET', location.href)
  // Only of this tab's own sign-in: a link must not choose what is opened after it.
  const isOwn = pending.state !== undefined && query.get('state') === pending.state
  history.replaceState(null, '', location.pathname + ((isOwn && asText(pending.hash)) || ''))
  signIn.onStep({ label: 'The browser comes back', request: returned })
  if (!isOwn) throw new Error('this tab did not start this sign-in: the state does not match')
  const issuer = query.get('iss')
  if (issuer === null ? pending.mustNameIssuer : issuer !== pending.issuer)
    throw new Error('the response comes from a different authorization server than requested (iss)')
  const error = query.get('error')
  if (error !== null)
    throw new Error(
      `the authorization server says ${clip(error, 200)}: ${clip(query.get('error_description') ?? '', 500)}`,
    )
  const fields = {
    grant_type: 'authorization_code',
    code: query.get('code') ?? '',
    redirect_uri: pending.redirectUri ?? '',
    client_id: pending.clientId ?? '',
    code_verifier: pending.verifier ?? '',
    resource: pending.resource ?? '',
  }
  const body = new URLSearchParams(fields).toString()
  const answer = await recorded(signIn)('The code is exchanged for a token', {
    url: pending.tokenEndpoint ?? '',
    method: 'POST',
    contentType: FORM,
    body,
  })
  const token = asText(asObject(parse(answer.body)).access_token)
  if (answer.status !== 200 || token === undefined)
    throw new Error(`no token: ${answer.status} ${clip(maskedText(answer.body, answer.status), 500)}`)
  return token
}

async function findResource(endpoint: string, challenge: string, ask: Ask): Promise<Json> {
  const { origin, pathname } = new URL(endpoint)
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const named = parameter(challenge, 'resource_metadata')
  const places =
    named === undefined ? [...new Set([wellKnown + pathname.replace(/\/$/, ''), wellKnown])] : [named]
  const found = await firstDocument('The metadata of the server', places, ask)
  const resource = asText(found.resource)
  if (resource === undefined || !isWithin(resource, endpoint))
    throw new Error(
      `the resource metadata is for ${clip(asOpened(resource ?? 'nothing'), 200)}, not for ${endpoint}: clients stop here`,
    )
  return found
}

/** RFC 9728 §3.3 with MCP's exception: the same URL, or a parent. */
function isWithin(resource: string, endpoint: string): boolean {
  if (!URL.canParse(resource)) return false
  const [above, own] = [new URL(resource), new URL(endpoint)]
  const path = above.pathname.replace(/\/$/, '')
  return above.origin === own.origin && (own.pathname === path || own.pathname.startsWith(`${path}/`))
}

async function findServer(issuer: string, ask: Ask): Promise<Json> {
  if (!URL.canParse(issuer)) throw new Error(`the authorization server is not a URL: ${clip(issuer, 200)}`)
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const [oauth, openid] = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
  const places = [origin + oauth + path, origin + openid + path, `${origin}${path}${openid}`]
  const server = await firstDocument('The metadata of the authorization server', [...new Set(places)], ask)
  if (server.issuer !== issuer)
    throw new Error(`the metadata of ${clip(asOpened(issuer), 200)} names another issuer: clients stop here`)
  if (!asList(server.code_challenge_methods_supported).includes('S256'))
    throw new Error(
      'the authorization server does not list S256 in code_challenge_methods_supported: clients stop here',
    )
  return server
}

async function firstDocument(label: string, places: readonly string[], ask: Ask): Promise<Json> {
  const seen: string[] = []
  for (const url of places) {
    const { status, body } = await ask(label, { url, method: 'GET' })
    const found = asObject(parse(body))
    if (status === 200 && Object.keys(found).length > 0) return found
    seen.push(`${status} at ${clip(asOpened(url), 200)}`)
  }
  throw new Error(`no metadata: ${seen.join(', ')}`)
}

async function register(
  server: Json,
  redirectUri: string,
  scope: string | undefined,
  ask: Ask,
): Promise<string> {
  const url = asText(server.registration_endpoint)
  if (url === undefined)
    throw new Error(
      'the authorization server does not register clients: enter the ID of one that allows this page’s URL',
    )
  const client = {
    client_name: 'Mayfly playground',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    ...(scope !== undefined && { scope }),
  }
  const answer = await ask('This page registers as a client', {
    url,
    method: 'POST',
    contentType: 'application/json',
    body: pretty(client),
  })
  const id = asText(asObject(parse(answer.body)).client_id)
  if (id === undefined)
    throw new Error(
      `the registration was refused: ${answer.status} ${clip(maskedText(answer.body, answer.status), 500)}`,
    )
  return id
}

function required(document: Json, name: string): string {
  const value = asText(document[name])
  if (value === undefined) throw new Error(`the authorization server names no ${name}`)
  return value
}

/** A parameter of `WWW-Authenticate: Bearer` (RFC 9110 §11.6.1). */
function parameter(challenge: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]{1,2000})"`).exec(challenge.slice(0, 8000))?.[1]
}

const random = (): string => base64Url(crypto.getRandomValues(new Uint8Array(32)))

async function challengeOf(verifier: string): Promise<string> {
  return base64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
}

function base64Url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
