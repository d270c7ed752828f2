/** OAuth metadata on a server that asks for no token: what is not a plain 404 makes some clients sign in all the same. */
import { pathInserted, WELL_KNOWN } from '../authorization.ts'
import { type Fetched, fetchDocument } from '../document.ts'
import { essence } from '../media-type.ts'
import { works, wrong } from '../outcome.ts'
import { quote } from '../safe-text.ts'
import { headersOf, type Stepped, type Trail } from './trail.ts'

export async function lookForOAuth(trail: Trail): Promise<Stepped> {
  const { url, wire } = trail
  const places = [pathInserted(url), `${url.origin}${WELL_KNOWN}`, issuerMetadata(url)]
  for (const place of new Set(places)) {
    const fetched = await fetchDocument(wire, new URL(place), headersOf(trail))
    const fault = faultOf(fetched)
    if (fault !== undefined)
      return {
        outcome: wrong(
          `no token is asked for, but ${quote(new URL(place).pathname)} is ${fault}: it tries to register`,
          'answer 404 there, also where a page, a gateway or the check of a key answers any path; or ask for a token with 401',
        ),
      }
  }
  return { outcome: works('404') }
}

/** What a client takes for a sign-in. A document that says what it should belongs to a server that is open in part. */
function faultOf(fetched: Fetched): string | undefined {
  if (fetched.kind !== 'none' || fetched.answer === undefined) return undefined
  const { status, headers } = fetched.answer
  if (status === 200) return `HTTP 200 with ${essence(headers) || 'no content type'}, not metadata`
  return status === 401 || status === 403 || status >= 500 ? `HTTP ${status}` : undefined
}

function issuerMetadata({ origin }: URL): string {
  return `${origin}/.well-known/oauth-authorization-server`
}
