/**
 * What a browser goes through: to the question whether the client may come in, then to the provider, and back from it to the client with a
 * code. The question comes first, as MCP 2026-07-28 demands ("Security Best Practices", confused deputy): servers "MUST obtain user consent
 * for each dynamically registered client before forwarding to third-party authorization servers", and the `state` for the provider must not
 * exist before. What a person agreed to is stored by person and client, and is looked up before the browser leaves (for who signed in with
 * this browser last) and again when it returns (for who it is): a client of anybody, sent with the provider's own consent still standing,
 * could otherwise act as the person.
 */

import { isA, textOf } from '../../definition/error-text.ts'
import { withTimeout } from '../../definition/timeout.ts'
import { ClientRefusedError } from '../clients/document-content.ts'
import { isRegisteredUri } from '../clients/redirects.ts'
import {
  asUnit,
  clientShown,
  errorPage,
  isLoopbackUrl,
  libraryFor,
  pageResponse,
  repeatedIn,
  type Signing,
  seeOther,
} from '../signing.ts'
import {
  AuthorizationError,
  type AuthorizationErrorLike,
  type AuthorizationRequest,
  authorizationErrorRedirect,
} from '../tokens/library.ts'
import { quoted, upstreamError } from '../upstream/errors.ts'
import { clockOffset, providerOf, toStoreTime, UPSTREAM_TIMEOUT_MS } from '../upstream/tokens.ts'
import { UpstreamFault, type UpstreamIdentity } from '../upstream/upstream.ts'
import { type Away, toUpstream, upstreamFailure } from './away.ts'
import { isRemembered } from './consents.ts'
import { readFlow } from './flow.ts'
import { type Arrived, MAX_CLAIMS_CHARACTERS, personOf, requireNamed } from './person.ts'
import { ask, OVER, showQuestion, switchPerson, visitorOf } from './question.ts'
import { beginSession, readLastPerson } from './session.ts'
import { letIn, refuseChanged } from './to-client.ts'

const MAX_QUERY_CHARACTERS = 8192
/** GET of the authorization endpoint (RFC 6749 §4.1.1), and of the question. */
export async function authorize(request: Request, signing: Signing): Promise<Response> {
  const { search, searchParams } = new URL(request.url)
  const handle = searchParams.get('consent')
  if (handle !== null) return showQuestion(request, signing, handle)
  const switched = searchParams.get('switch')
  if (switched !== null) return switchPerson(request, signing, switched)
  if (search.length > MAX_QUERY_CHARACTERS)
    return errorPage(signing, 400, 'This request is too long', 'Tell the developer of the app you came from.')
  const repeated = repeatedIn(searchParams)
  if (repeated !== undefined)
    return refusedRequest(signing, `The parameter ${JSON.stringify(repeated)} is repeated.`)
  if (signing.machines.has(searchParams.get('client_id') ?? ''))
    return refusedRequest(signing, 'The client signs in by itself, without a person.')
  const found = await asUnit(signing, async ({ library }) => {
    try {
      const url = signing.place.authorize + search
      const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: library })
      const request = await helpers.parseAuthRequest(new Request(url))
      const client = await helpers.lookupClient(request.clientId)
      // The library compares loopback URIs as URLs, in which `/a/../cb` is `/cb`.
      if (isRegisteredUri(request.redirectUri, client?.redirectUris ?? []))
        return { parsed: request, client: clientShown(request, client) }
      return refusedRequest(signing, 'Invalid redirect URI.')
    } catch (error) {
      if (isA(error, ClientRefusedError)) return refusedRequest(signing, textOf(error))
      if (isA(error, AuthorizationError)) return refusal(signing, error)
      throw error
    }
  })
  if (found instanceof Response) return found
  const { parsed, client } = found
  const known = Object.keys(signing.scopes)
  const scope =
    parsed.scope.length === 0 ? signing.initialScopes : parsed.scope.filter((one) => known.includes(one))
  const refuse = (code: string, description: string) =>
    backToClient(signing, authorizationErrorRedirect(parsed, code, description), description)
  if (parsed.codeChallenge === undefined || !/^[\w-]{43}$/.test(parsed.codeChallenge))
    return refuse('invalid_request', 'code_challenge is required (S256)')
  if ((searchParams.get('prompt') ?? '').split(' ').includes('none'))
    return refuse('interaction_required', 'Somebody has to sign in')
  if (scope.length === 0 && known.length > 0 && !parsed.scope.includes('offline_access'))
    return refuse('invalid_scope', 'This server has none of these scopes')
  const asked: AuthorizationRequest = { ...parsed, scope }
  // Before the question, whose answer would lead nowhere.
  const unusable = faultOf(signing)
  if (unusable !== undefined) return upstreamFailure(signing, unusable)
  const last = await readLastPerson(request, signing)
  const question = await asUnit(signing, async (unit) => {
    const isKnown = last !== undefined && (await isRemembered(unit, asked, client, last.sub))
    const visitor = visitorOf(last?.session)
    return isKnown ? undefined : ask(request, signing, unit, { request: asked, client, visitor })
  })
  return question ?? toUpstream(request, signing, { request: asked })
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

/** What the operator has not set yet, as it would show at the provider. */
function faultOf({ upstream, env }: Signing): unknown {
  try {
    const fault = upstream.faultIn?.(env)
    return fault === undefined
      ? undefined
      : upstreamError(upstream.name, new UpstreamFault('misconfigured', fault))
  } catch (error) {
    return error
  }
}

function tooManyClaims(provider: string, leftOut: readonly string[]): UpstreamFault {
  const names = quoted(leftOut.join(', '), [])
  return new UpstreamFault(
    'answer_invalid',
    `${provider} sends more than ${MAX_CLAIMS_CHARACTERS} characters of claims about a person, so ctx.auth.claims is without: ${names}. Let it send this application fewer or shorter claims.`,
  )
}

/** What the provider says (RFC 6749 §4.1.2.1), for the operator. */
function withoutCode(provider: string, parameters: URLSearchParams): UpstreamFault {
  const [error, description] = ['error', 'error_description'].map((name) => quoted(parameters.get(name), []))
  const says = [error, description].filter(Boolean).join(': ') || 'nothing'
  return new UpstreamFault(
    'misconfigured',
    `${provider} sent a person back without a code, and says: ${says}. Check what this application may ask for there.`,
  )
}

/** GET of the URL that is registered with the provider. */
export async function callback(request: Request, signing: Signing): Promise<Response> {
  const { place, upstream, env, name } = signing
  const { search, searchParams: parameters } = new URL(request.url)
  try {
    const own = upstream.page?.({ env, url: new URL(place.callback + search) })
    if (own !== undefined) return pageResponse({ page: 'who', server: name, ...own })
  } catch (error) {
    return upstreamFailure(signing, error)
  }
  const repeated = repeatedIn(parameters)
  if (repeated !== undefined)
    return errorPage(
      signing,
      400,
      'This sign-in cannot be continued',
      `The parameter ${JSON.stringify(repeated)} is repeated.`,
    )
  // Used up before the code is: of two requests with one state, the second does not reach the provider.
  const returned = await asUnit(signing, async (unit) => {
    const flow = await readFlow(unit, signing, 'upstream', parameters.get('state') ?? '', request)
    return flow && { away: flow.content as Away, cookie: flow.end() }
  })
  if (returned === undefined || returned.away.provider !== (providerOf(signing) ?? ''))
    return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
  const { away, cookie } = returned
  const code = parameters.get('code')
  if (code === null || code === '') {
    const isDenied = parameters.get('error') === 'access_denied'
    if (!isDenied) signing.report(withoutCode(upstream.name, parameters))
    const url = await errorUrl(signing, away, isDenied ? 'access_denied' : 'server_error')
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
    identity = requireNamed(await withTimeout(upstream.exchange(back), UPSTREAM_TIMEOUT_MS, upstream.name))
  } catch (error) {
    return upstreamFailure(signing, error)
  }
  const { person, leftOut } = await personOf(identity)
  if (leftOut.length > 0) signing.reportOnce(tooManyClaims(upstream.name, leftOut))
  const { tokens, issuer, subject } = identity
  const offsetMs = await clockOffset(signing.store)
  const arrived: Arrived = {
    person,
    tokens: toStoreTime({ ...tokens, issuer, subject, provider: providerOf(signing) }, offsetMs),
  }
  const session = await beginSession(signing, arrived.person)
  const { request: asked } = away
  if (asked === undefined) return seeOther(place.connections, [cookie, session])
  return asUnit(signing, async (unit) => {
    const { sub } = arrived.person
    const { agreed } = away
    const cookies = [cookie, session]
    if (agreed !== undefined && (agreed.sub ?? sub) === sub)
      return letIn(signing, unit, asked, agreed.client, arrived, cookies)
    const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
    const client = clientShown(asked, await helpers.lookupClient(asked.clientId))
    if (await isRemembered(unit, asked, client, sub))
      return letIn(signing, unit, asked, client, arrived, cookies)
    return ask(request, signing, unit, { request: asked, client, arrived }, cookies)
  })
}

/** Where the client is told that nobody signed in. Undefined: nowhere, or it is not its address any more. */
async function errorUrl(
  signing: Signing,
  { request, agreed }: Away,
  code: string,
): Promise<string | undefined> {
  if (request === undefined) return undefined
  const seen = agreed?.client ?? clientShown(request, null)
  try {
    const changed = await asUnit(signing, (unit) => refuseChanged(signing, unit, request, seen))
    return changed === undefined ? authorizationErrorRedirect(request, code) : undefined
  } catch (error) {
    // The person reads what the provider said, and goes back without a link.
    signing.report(error)
    return undefined
  }
}
