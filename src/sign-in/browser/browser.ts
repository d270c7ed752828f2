/**
 * What a browser goes through: to the question whether the client may come in, then to the provider, and back from it to the client with a
 * code. The question comes first, as MCP 2026-07-28 demands ("Security Best Practices", confused deputy): servers "MUST obtain user consent
 * for each dynamically registered client before forwarding to third-party authorization servers", and the `state` for the provider must not
 * exist before. What a person agreed to is stored by person and client, and is looked up before the browser leaves (for who signed in with
 * this browser last) and again when it returns (for who it is): a client of anybody, sent with the provider's own consent still standing,
 * could otherwise act as the person.
 */

import { isA, textOf } from '../../definition/error-text.ts'
import { ClientRefusedError } from '../clients/document-content.ts'
import { isRegisteredUri } from '../clients/redirects.ts'
import { readQuery } from '../parameters.ts'
import {
  asUnit,
  clientShown,
  errorPage,
  isLoopbackUrl,
  libraryFor,
  type Signing,
  seeOther,
} from '../signing.ts'
import {
  AuthorizationError,
  type AuthorizationErrorLike,
  type AuthorizationRequest,
  authorizationErrorRedirect,
} from '../tokens/library.ts'
import { upstreamError } from '../upstream/errors.ts'
import { UpstreamFault } from '../upstream/upstream.ts'
import { toUpstream, upstreamFailure } from './away.ts'
import { isRemembered } from './consents.ts'
import { ask, showQuestion, switchPerson, visitorOf } from './question.ts'
import { readLastPerson } from './session.ts'

/** GET of the authorization endpoint (RFC 6749 §4.1.1), and of the question. */
export async function authorize(request: Request, signing: Signing): Promise<Response> {
  const { search } = new URL(request.url)
  const query = readQuery(search)
  if (!query.ok)
    return query.isTooLong
      ? errorPage(signing, 400, 'This request is too long', 'Tell the developer of the app you came from.')
      : refusedRequest(signing, `${query.why}.`)
  const { parameters } = query
  const handle = parameters.get('consent')
  if (handle !== null) return showQuestion(request, signing, handle)
  const switched = parameters.get('switch')
  if (switched !== null) return switchPerson(request, signing, switched)
  if (signing.machines.has(parameters.get('client_id') ?? ''))
    return refusedRequest(signing, 'The client signs in by itself, without a person.')
  const found = await asUnit(signing, async ({ library }) => {
    try {
      const url = `${signing.place.authorize}?${parameters}`
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
  if ((parameters.get('prompt') ?? '').split(' ').includes('none'))
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
