/**
 * What a browser goes through: to the provider, back from it, and to the question whether the client may come in, which names the client and
 * who is signed in. Without an answer to it, no client gets a code: a client of anybody, sent with the provider's own consent still
 * standing, could otherwise act as the person (MCP 2026-07-28, "Security Best Practices", confused deputy).
 */

import { digest } from '../../definition/digest.ts'
import { isA, memberOf, textOf } from '../../definition/error-text.ts'
import { withTimeout } from '../../definition/timeout.ts'
import { ClientRefusedError } from '../clients/documents.ts'
import {
  asUnit,
  clientShown,
  errorPage,
  isFromHere,
  isLoopbackUrl,
  libraryFor,
  pageResponse,
  type Signing,
  scopesShown,
  seeOther,
} from '../signing.ts'
import {
  AuthorizationError,
  type AuthorizationErrorLike,
  type AuthorizationRequest,
  authorizationErrorRedirect,
} from '../tokens/library.ts'
import { UPSTREAM_TIMEOUT_MS } from '../upstream/tokens.ts'
import {
  type UpstreamIdentity,
  UpstreamRefusedError,
  UpstreamUnavailableError,
} from '../upstream/upstream.ts'
import { complete, isRemembered } from './consents.ts'
import { beginFlow, randomText, readFlow } from './flow.ts'
import { type Arrived, personOf } from './person.ts'
import { beginSession, endSession } from './session.ts'

/** What is remembered while the browser is at the provider. Without a request, it came from the page of connections. */
interface Away {
  readonly request?: AuthorizationRequest
  readonly verifier: string
  readonly nonce: string
}

interface Asked extends Arrived {
  readonly request: AuthorizationRequest
}

const MAX_QUERY_CHARACTERS = 8192
const OVER =
  'It was finished, took longer than ten minutes, or began in another browser. Start again in your app.'

/** GET of the authorization endpoint (RFC 6749 §4.1.1), and of the question. */
export async function authorize(request: Request, signing: Signing): Promise<Response> {
  const { search, searchParams } = new URL(request.url)
  const handle = searchParams.get('consent')
  if (handle !== null) return showConsent(request, signing, handle)
  const switched = searchParams.get('switch')
  if (switched !== null) return switchPerson(request, signing, switched)
  if (search.length > MAX_QUERY_CHARACTERS)
    return errorPage(signing, 400, 'This request is too long', 'Tell the developer of the app you came from.')
  const repeated = [...new Set(searchParams.keys())].find(
    (name) => name !== 'resource' && searchParams.getAll(name).length > 1,
  )
  if (repeated !== undefined)
    return refusedRequest(signing, `The parameter ${JSON.stringify(repeated)} is repeated.`)
  if (signing.machines.has(searchParams.get('client_id') ?? ''))
    return refusedRequest(signing, 'The client signs in by itself, without a person.')
  const parsed = await asUnit(signing, async ({ library }) => {
    try {
      const url = signing.place.authorize + search
      return await libraryFor(signing).getOAuthApi({ OAUTH_KV: library }).parseAuthRequest(new Request(url))
    } catch (error) {
      if (isA(error, ClientRefusedError)) return refusedRequest(signing, textOf(error))
      if (isA(error, AuthorizationError)) return refusal(signing, error)
      throw error
    }
  })
  if (parsed instanceof Response) return parsed
  const known = Object.keys(signing.scopes)
  const scope = parsed.scope.length === 0 ? known : parsed.scope.filter((one) => known.includes(one))
  const refuse = (code: string, description: string) =>
    backToClient(signing, authorizationErrorRedirect(parsed, code, description), description)
  if (parsed.codeChallenge === undefined || !/^[\w-]{43}$/.test(parsed.codeChallenge))
    return refuse('invalid_request', 'code_challenge is required (S256)')
  if ((searchParams.get('prompt') ?? '').split(' ').includes('none'))
    return refuse('interaction_required', 'Somebody has to sign in')
  if (scope.length === 0 && known.length > 0 && !parsed.scope.includes('offline_access'))
    return refuse('invalid_scope', 'This server has none of these scopes')
  return toUpstream(signing, { request: { ...parsed, scope } })
}

/** A request that cannot be answered to the client: its redirect URI is not known to be the client's (RFC 6749 §4.1.2.1). */
function refusedRequest(signing: Signing, message: string): Response {
  return errorPage(
    signing,
    400,
    'The app sent a request that cannot be used',
    `${message} Tell its developer.`,
  )
}

function refusal(signing: Signing, { description, redirectTo }: AuthorizationErrorLike): Response {
  if (redirectTo === undefined) return refusedRequest(signing, `${description}.`)
  return backToClient(signing, redirectTo, description)
}

/**
 * An error for the client. Only an app on the person's computer is told at once: anybody can register a client with any other URL, and must
 * not be able to send browsers there through this server (RFC 9700 §4.11.2).
 */
function backToClient(signing: Signing, url: string, description: string): Response {
  if (isLoopbackUrl(url)) return seeOther(url)
  const title = 'The app sent a request that cannot be used'
  return errorPage(signing, 400, title, `${description}. Tell its developer.`, url)
}

/** Sends the browser to the provider. `cookies`: set before its own. */
export async function toUpstream(
  signing: Signing,
  from: Pick<Away, 'request'>,
  { isSwitching = false, cookies = [] }: { isSwitching?: boolean; cookies?: readonly string[] } = {},
): Promise<Response> {
  const { upstream, env, place, keys } = signing
  const away: Away = { ...from, verifier: randomText(), nonce: randomText() }
  const codeChallenge = await digest(away.verifier)
  const { handle, cookie } = await asUnit(signing, (unit) => beginFlow(unit, keys, place, 'upstream', away))
  try {
    const { nonce } = away
    const start = { env, redirectUri: place.callback, state: handle, nonce, codeChallenge, isSwitching }
    const url = await withTimeout(upstream.authorizeUrl(start), UPSTREAM_TIMEOUT_MS, upstream.name)
    return seeOther(url, [...cookies, cookie])
  } catch (error) {
    return upstreamFailure(signing, error)
  }
}

/** GET of the URL that is registered with the provider. */
export async function callback(request: Request, signing: Signing): Promise<Response> {
  const { place, keys, upstream, env, name } = signing
  const { search, searchParams: parameters } = new URL(request.url)
  try {
    const own = upstream.page?.({ env, url: new URL(place.callback + search) })
    if (own !== undefined) return pageResponse({ page: 'who', server: name, ...own })
  } catch (error) {
    return upstreamFailure(signing, error)
  }
  // Used up before the code is: of two requests with one state, the second does not reach the provider.
  const returned = await asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, keys, place, 'upstream', parameters.get('state') ?? '', request)
    return flow && { away: flow.content as Away, cookie: flow.end() }
  })
  if (returned === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
  const { away, cookie } = returned
  const code = parameters.get('code')
  if (code === null || code === '') {
    const isDenied = parameters.get('error') === 'access_denied'
    const url =
      away.request && authorizationErrorRedirect(away.request, isDenied ? 'access_denied' : 'server_error')
    if (url !== undefined && isLoopbackUrl(url)) return seeOther(url, [cookie])
    const message = isDenied
      ? `You were not signed in with ${upstream.name}.`
      : `${upstream.name} reported an error. Start again in your app; if it goes on, tell the operator of ${name}.`
    return errorPage(signing, isDenied ? 403 : 502, 'You are not signed in', message, url)
  }
  let identity: UpstreamIdentity
  try {
    const { verifier: codeVerifier, nonce } = away
    const back = { env, redirectUri: place.callback, code, codeVerifier, nonce, parameters }
    identity = await withTimeout(upstream.exchange(back), UPSTREAM_TIMEOUT_MS, upstream.name)
  } catch (error) {
    return upstreamFailure(signing, error)
  }
  const arrived: Arrived = { person: await personOf(identity), tokens: identity.tokens }
  const session = await beginSession(signing, arrived.person)
  const { request: asked } = away
  if (asked === undefined) return seeOther(place.connections, [cookie, session])
  return asUnit(signing, async (unit) => {
    if (await isRemembered(unit, asked, arrived.person.sub)) {
      const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
      const client = await helpers.lookupClient(asked.clientId)
      const url = await complete(signing, unit, helpers, asked, client, arrived)
      return seeOther(url, [cookie, session])
    }
    const content: Asked = { ...arrived, request: asked }
    const question = await beginFlow(unit, keys, place, 'consent', content)
    return seeOther(`${place.authorize}?consent=${question.handle}`, [cookie, session, question.cookie])
  })
}

async function showConsent(request: Request, signing: Signing, handle: string): Promise<Response> {
  const { place, keys, upstream, name } = signing
  return asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, keys, place, 'consent', handle, request)
    if (flow === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
    const { request: asked, person } = flow.content as Asked
    const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
    const client = clientShown(asked, await helpers.lookupClient(asked.clientId))
    const page = {
      page: 'consent',
      server: name,
      client,
      person: { name: person.name, email: person.email },
      upstream: upstream.name,
      scopes: scopesShown(signing, asked.scope),
      switchUrl: `${place.authorize}?switch=${handle}`,
      connectionsUrl: place.connections,
      action: place.authorize,
      fields: { consent: handle },
    } as const
    return pageResponse(page)
  })
}

/** "Not you?": back to the provider, for another account. */
async function switchPerson(request: Request, signing: Signing, handle: string): Promise<Response> {
  const { place, keys } = signing
  const left = await asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, keys, place, 'consent', handle, request)
    return flow && { asked: (flow.content as Asked).request, cookie: flow.end() }
  })
  if (left === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
  const cookies = [left.cookie, endSession(signing)]
  return toUpstream(signing, { request: left.asked }, { isSwitching: true, cookies })
}

/** POST of the answer. The redirect URI is that of the record, which was checked, never one of the form. */
export async function decide(request: Request, form: URLSearchParams, signing: Signing): Promise<Response> {
  const { place, keys } = signing
  if (!isFromHere(request, place))
    return errorPage(
      signing,
      403,
      'This form is from another website',
      'Nothing was changed. Start again in your app.',
    )
  const decision = form.get('decision')
  return asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, keys, place, 'consent', form.get('consent') ?? '', request)
    if (flow === undefined) return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
    if (decision !== 'approve' && decision !== 'deny')
      return errorPage(signing, 400, 'Nothing was chosen', 'Go back, and choose whether the app may come in.')
    const { request: asked, ...arrived } = flow.content as Asked
    const cookie = flow.end()
    if (decision === 'deny') return seeOther(authorizationErrorRedirect(asked, 'access_denied'), [cookie])
    const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
    const client = await helpers.lookupClient(asked.clientId)
    return seeOther(await complete(signing, unit, helpers, asked, client, arrived), [cookie])
  })
}

function upstreamFailure(signing: Signing, error: unknown): Response {
  const { upstream, report } = signing
  if (isA(error, UpstreamRefusedError)) {
    const cause = memberOf(error, 'cause')
    if (cause !== undefined) report(cause)
    return errorPage(signing, 403, 'You are not let in', textOf(error))
  }
  report(error)
  const message = isA(error, UpstreamUnavailableError)
    ? textOf(error)
    : 'Start again in your app in a few minutes.'
  return errorPage(signing, 503, `${upstream.name} cannot be used now`, message)
}
