/**
 * Sends the browser to the client, some time after the person was asked about it. Its document may say something else by now: nothing goes
 * to an address that is not the client's any more.
 */
import { isA } from '../../definition/error-text.ts'
import { isRegisteredUri } from '../clients/redirects.ts'
import { errorPage, libraryFor, type Signing, seeOther } from '../signing.ts'
import { AuthorizationError, type AuthorizationRequest, type ClientRecord } from '../tokens/library.ts'
import type { Unit } from '../unit.ts'
import { type ClientSeen, complete } from './consents.ts'
import type { Arrived } from './person.ts'

/**
 * The page for a client that has changed since `seen`. Undefined: it still returns to the address of the request.
 *
 * @throws ClientUnreachableError, ClientRefusedError or ClientLimitError if its document cannot be read or used.
 */
export async function refuseChanged(
  signing: Signing,
  unit: Unit,
  { clientId, redirectUri }: AuthorizationRequest,
  seen: ClientSeen,
  cookies: readonly string[] = [],
): Promise<Response | undefined> {
  const helpers = libraryFor(signing).getOAuthApi({ OAUTH_KV: unit.library })
  const client: ClientRecord | null = await helpers.lookupClient(clientId)
  if (client === null) return changed(signing, seen, 'is not known to this server any more', cookies)
  if (isRegisteredUri(redirectUri, client.redirectUris)) return undefined
  return changed(signing, seen, 'returns to another address now', cookies)
}

/** With a code, unless the client has changed. `seen`: as the person was shown it. */
export async function letIn(
  signing: Signing,
  unit: Unit,
  request: AuthorizationRequest,
  seen: ClientSeen,
  arrived: Arrived,
  cookies: readonly string[],
): Promise<Response> {
  const refused = await refuseChanged(signing, unit, request, seen, cookies)
  if (refused !== undefined) return refused
  try {
    return seeOther(await complete(signing, unit, request, seen, arrived), cookies)
  } catch (error) {
    // Such as for a client that takes no codes any more.
    if (isA(error, AuthorizationError))
      return changed(signing, seen, 'takes no sign-in of this kind any more', cookies)
    throw error
  }
}

/** Without the name, which is a stranger's text. */
function changed(signing: Signing, { host }: ClientSeen, what: string, cookies: readonly string[]): Response {
  const app = host === undefined ? 'the app' : `the app of ${host}`
  const message = `While you signed in, ${app} has changed: it ${what}. Nothing was sent to it. Start again in your app; if that fails, tell its developer.`
  return errorPage(signing, 400, 'The app has changed', message, undefined, cookies)
}
