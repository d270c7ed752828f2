/** The browser comes back from the provider: who it is, and whether the client that it came for may come in. */
import { isA } from '../../definition/error-text.ts'
import { withTimeout } from '../../definition/timeout.ts'
import { MAX_VALUE_BYTES } from '../../keyed/store.ts'
import { COUNTING_ATTEMPTS } from '../clients/limits.ts'
import { readQuery } from '../parameters.ts'
import {
  asUnit,
  clientShown,
  errorPage,
  isLoopbackUrl,
  libraryFor,
  pageResponse,
  type Signing,
  seeOther,
} from '../signing.ts'
import { type AuthorizationRequest, authorizationErrorRedirect } from '../tokens/library.ts'
import { EntryTooLargeError, type Unit } from '../unit.ts'
import { quoted } from '../upstream/errors.ts'
import { clockOffset, providerOf, toStoreTime, UPSTREAM_TIMEOUT_MS } from '../upstream/tokens.ts'
import { UpstreamFault, type UpstreamIdentity } from '../upstream/upstream.ts'
import { giveBack, isRefusal, reserveCode } from './attempts.ts'
import { type Away, upstreamFailure } from './away.ts'
import { isRemembered } from './consents.ts'
import { readFlow } from './flow.ts'
import { type Arrived, MAX_CLAIMS_CHARACTERS, personOf, requireNamed } from './person.ts'
import { ask, OVER } from './question.ts'
import { beginSession } from './session.ts'
import { letIn, refuseChanged } from './to-client.ts'

function tooManyClaims(provider: string, leftOut: readonly string[]): UpstreamFault {
  const names = quoted(leftOut.join(', '), [])
  return new UpstreamFault(
    'answer_invalid',
    `${provider} sends more than ${MAX_CLAIMS_CHARACTERS} characters of claims about a person, so ctx.auth.claims is without: ${names}. Let it send this application fewer or shorter claims.`,
  )
}

/** RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6. */
const CODES: ReadonlySet<string> = new Set([
  'invalid_request',
  'unauthorized_client',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
])

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
  const { search } = new URL(request.url)
  const query = readQuery(search)
  if (!query.ok) return errorPage(signing, 400, 'This sign-in cannot be continued', `${query.why}.`)
  const { parameters } = query
  try {
    const own = upstream.page?.({ env, url: new URL(place.callback + search) })
    if (own !== undefined) return pageResponse({ page: 'who', server: name, ...own })
  } catch (error) {
    return upstreamFailure(signing, error)
  }
  // Used up before the code is: of two requests with one state, the second does not reach the provider.
  const code = parameters.get('code')
  const returned = await asUnit(
    signing,
    async (unit) => {
      const flow = await readFlow(unit, signing, 'upstream', parameters.get('state') ?? '', request)
      const away = flow?.content as Away | undefined
      if (flow === undefined || away === undefined) return undefined
      const isAsked = code !== null && away.provider === (providerOf(signing) ?? '')
      const allowance = isAsked ? await reserveCode(signing, unit) : undefined
      // It is not used up then: the person may reload the page in a minute.
      if (isAsked && allowance === undefined) return 'limit'
      return { away, cookie: flow.end(), allowance }
    },
    COUNTING_ATTEMPTS,
  )
  if (returned === 'limit')
    return errorPage(
      signing,
      429,
      'Too many sign-ins failed',
      `${upstream.name} refused many sign-ins from your network. Reload this page in a minute.`,
    )
  if (returned === undefined || returned.away.provider !== (providerOf(signing) ?? ''))
    return errorPage(signing, 400, 'This sign-in cannot be continued', OVER)
  const { away, cookie, allowance } = returned
  if (code === null) {
    const isDenied = parameters.get('error') === 'access_denied'
    const error = parameters.get('error') ?? ''
    // Anybody can come back with one, and a description of their own.
    if (!isDenied)
      signing.reportSeldom(CODES.has(error) ? error : 'another', withoutCode(upstream.name, parameters))
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
    if (allowance !== undefined && !isRefusal(error)) await giveBack(signing, allowance)
    return upstreamFailure(signing, error)
  }
  if (allowance !== undefined) await giveBack(signing, allowance)
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
  const cookies = [cookie, session]
  try {
    return await asUnit(signing, (unit) => goOn(request, signing, unit, away, asked, arrived, cookies))
  } catch (error) {
    if (isA(error, EntryTooLargeError)) return tooMuch(signing, arrived, error, cookies)
    throw error
  }
}

/** To the client, or to the question about somebody whom it was not about. */
async function goOn(
  browser: Request,
  signing: Signing,
  unit: Unit,
  { agreed }: Away,
  asked: AuthorizationRequest,
  arrived: Arrived,
  cookies: readonly string[],
): Promise<Response> {
  const { sub } = arrived.person
  if (agreed !== undefined && (agreed.sub ?? sub) === sub)
    return letIn(signing, unit, asked, agreed.client, arrived, cookies)
  const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
  const client = clientShown(asked, await helpers.lookupClient(asked.clientId))
  if (await isRemembered(unit, asked, client, sub))
    return letIn(signing, unit, asked, client, arrived, cookies)
  return ask(browser, signing, unit, { request: asked, client, arrived }, cookies)
}

/** What the provider sent cannot be stored. Trying again does not help. */
function tooMuch(
  signing: Signing,
  { person, tokens }: Arrived,
  { bytes }: EntryTooLargeError,
  cookies: readonly string[],
): Response {
  const { name } = signing.upstream
  const sizes = [
    `an access token of ${tokens.accessToken.length} characters`,
    `a refresh token of ${tokens.refreshToken?.length ?? 0}`,
    `claims, name and email of ${JSON.stringify(person).length}`,
  ]
  const fault = `${name} sent ${sizes.join(', ')}: ${bytes} bytes to store, of which ${MAX_VALUE_BYTES} fit. Let it put less into the tokens of this application.`
  signing.report(new UpstreamFault('answer_invalid', fault))
  const message = `What ${name} sent about you is too large for this server, so nobody was signed in. To try again does not help: tell the people who run this server.`
  return errorPage(signing, 502, `${name} sent too much`, message, undefined, cookies)
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
