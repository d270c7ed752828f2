/** The authorization server: answers the requests of sign-in, at any platform, over a store of grants. */
import { isA, textOf } from '../definition/error-text.ts'
import { isForm, isJson, isUnencoded } from '../http/content-type.ts'
import { authorize } from './browser/browser.ts'
import { callback } from './browser/callback.ts'
import { removeConnection, showConnections } from './browser/connections.ts'
import { FlowLimitError } from './browser/flow.ts'
import { decide } from './browser/question.ts'
import { ASSERTION_ALGORITHMS } from './clients/assertion.ts'
import { ClientRefusedError } from './clients/document-content.ts'
import { ClientLimitError, ClientUnreachableError } from './clients/documents.ts'
import { register } from './clients/registration.ts'
import { readForm } from './parameters.ts'
import { isOpenId, type Route } from './place.ts'
import { errorPage, libraryFor, oauthError, PRIVATE, type Signing } from './signing.ts'
import { token } from './tokens/tokens.ts'

const METHODS: { readonly [route in Route]: readonly string[] } = {
  metadata: ['GET', 'HEAD'],
  authorize: ['GET', 'POST'],
  token: ['POST'],
  register: ['POST'],
  callback: ['GET'],
  connections: ['GET', 'POST'],
  keys: ['GET', 'HEAD'],
}

const UNAVAILABLE = 'Sign-in is not available now: try again in a few seconds'

/** What apps in a browser call with `fetch`. The others are pages. */
const FOR_APPS: ReadonlySet<Route> = new Set(['metadata', 'token', 'register', 'keys'])
const isForApps = (route: Route): boolean => FOR_APPS.has(route)

/** Never rejects. */
export async function serveSignIn(
  request: Request,
  route: Route,
  signing: () => Promise<Signing>,
  report: (error: unknown) => void,
): Promise<Response> {
  const response = await answer(request, route, signing, report)
  return isForApps(route) ? withCors(response, route) : response
}

async function answer(
  request: Request,
  route: Route,
  open: () => Promise<Signing>,
  report: (error: unknown) => void,
): Promise<Response> {
  const { method } = request
  if (method === 'OPTIONS' && isForApps(route)) return new Response(null, { status: 204 })
  if (!METHODS[route].includes(method)) {
    const allow = METHODS[route].join(', ')
    return new Response(null, {
      status: 405,
      headers: { ...PRIVATE, allow: isForApps(route) ? `${allow}, OPTIONS` : allow },
    })
  }
  let signing: Signing
  try {
    signing = await open()
  } catch (error) {
    // The operator's fault, such as a secret that is not set.
    report(error)
    return oauthError(503, 'temporarily_unavailable', UNAVAILABLE)
  }
  try {
    return await answerRoute(request, route, signing)
  } catch (error) {
    if (isA(error, FlowLimitError)) return errorPage(signing, 429, 'This request is too long', textOf(error))
    if (isA(error, ClientLimitError)) return errorPage(signing, 429, 'Too many new apps', textOf(error))
    if (isA(error, ClientUnreachableError) || isA(error, ClientRefusedError)) {
      const status = isA(error, ClientUnreachableError) ? 503 : 400
      return errorPage(signing, status, 'The app cannot be identified', `${textOf(error)} Try again later.`)
    }
    signing.report(error)
    return isForApps(route)
      ? oauthError(503, 'temporarily_unavailable', UNAVAILABLE)
      : errorPage(signing, 503, 'Sign-in is not available now', 'Try again in a few seconds.')
  }
}

async function answerRoute(request: Request, route: Route, signing: Signing): Promise<Response> {
  const isPost = request.method === 'POST'
  if (isUnseen(request, route))
    return isForApps(route)
      ? oauthError(403, 'access_denied', 'Another website cannot send this')
      : errorPage(signing, 403, 'This page cannot be part of another', 'Open it in a tab of its own.')
  if (route === 'metadata') return metadata(request, signing)
  if (route === 'keys') return facts(request, { keys: [] })
  if (route === 'callback') return callback(request, signing)
  if (!isPost) return route === 'authorize' ? authorize(request, signing) : showConnections(request, signing)
  const unreadable = refuseContent(request, route)
  if (unreadable !== undefined)
    return isForApps(route)
      ? unreadable
      : errorPage(signing, 415, 'This is not a form', 'Go back, and try again.')
  const body = await request.text()
  if (route === 'register') return register(request, body, signing)
  const form = readForm(body)
  if (!form.ok)
    return route === 'token'
      ? oauthError(form.isTooLong ? 413 : 400, 'invalid_request', form.why)
      : errorPage(signing, 400, 'This is not a form', 'Go back, and try again.')
  const { parameters } = form
  if (route === 'token') return token(request, parameters, signing)
  return route === 'authorize'
    ? decide(request, parameters, signing)
    : removeConnection(request, parameters, signing)
}

/**
 * An image, a frame or a form of another website, which could spend the limits of its visitors: pages are for tabs (Fetch Metadata,
 * `Sec-Fetch-Dest`), and tokens for scripts that may read the answer. What is not a browser sends no such headers.
 */
function isUnseen({ headers }: Request, route: Route): boolean {
  if (route === 'metadata' || route === 'keys') return false
  const mode = headers.get('sec-fetch-mode')
  if (isForApps(route)) return mode === 'no-cors' || mode === 'navigate'
  return (headers.get('sec-fetch-dest') ?? 'document') !== 'document'
}

/** As the MCP endpoint (RFC 9110 §15.5.16). A website cannot send JSON without a preflight, so it registers no clients unseen. */
function refuseContent({ headers }: Request, route: Route): Response | undefined {
  const type = headers.get('content-type')
  const isRight = route === 'register' ? isJson(type) : isForm(type)
  const wanted = route === 'register' ? 'application/json' : 'application/x-www-form-urlencoded'
  if (!isRight) return oauthError(415, 'invalid_request', `The body must be ${wanted} in UTF-8`)
  if (isUnencoded(headers.get('content-encoding'))) return undefined
  const refused = oauthError(415, 'invalid_request', 'The body must have no content encoding')
  refused.headers.set('accept-encoding', 'identity')
  return refused
}

/** RFC 8414 §2: the library's, with what is served around it. */
async function metadata(request: Request, signing: Signing): Promise<Response> {
  const { issuer } = signing.place
  const { origin, pathname } = new URL(issuer)
  const url = `${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`
  const response = await libraryFor(signing).fetch(new Request(url), { OAUTH_KV: NO_STORE }, {})
  const found = (await response.json()) as { [member: string]: unknown }
  const methods = [...(found.token_endpoint_auth_methods_supported as string[]), 'private_key_jwt']
  const grants = found.grant_types_supported as string[]
  return facts(request, {
    ...found,
    ...(signing.machines.size > 0 && { grant_types_supported: [...grants, 'client_credentials'] }),
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    client_id_metadata_document_supported: true,
    ...(isOpenId(new URL(request.url).pathname) && openIdFacts(signing)),
  })
}

/** What OpenID requires of such a document, and clients check, though there are no ID tokens (OpenID Connect Discovery 1.0 §3). */
function openIdFacts({ place }: Signing): object {
  return {
    jwks_uri: place.keys,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [],
  }
}

function facts(request: Request, members: object): Response {
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
  }
  return new Response(request.method === 'HEAD' ? null : JSON.stringify(members), { headers })
}

const none = async (): Promise<never> => {
  throw new Error('Metadata needs no store.')
}
const NO_STORE = { get: none, put: none, delete: none, list: none }

/** Any website may be an app: these answers depend on what it sends, never on cookies (Fetch, "CORS protocol"). */
function withCors(response: Response, route: Route): Response {
  response.headers.set('access-control-allow-origin', '*')
  response.headers.set('access-control-allow-methods', [...METHODS[route], 'OPTIONS'].join(', '))
  response.headers.set('access-control-allow-headers', 'Authorization, Content-Type, MCP-Protocol-Version')
  response.headers.set('access-control-expose-headers', 'Retry-After, WWW-Authenticate')
  response.headers.set('access-control-max-age', '86400')
  return response
}
