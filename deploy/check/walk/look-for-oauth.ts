/** OAuth metadata on a server without authentication: anything other than a plain 404 makes some clients sign in. */
import { pathInserted, WELL_KNOWN } from '../authorization.ts'
import { type Fetched, fetchDocument } from '../document.ts'
import { essence } from '../media-type.ts'
import { untried, works, wrong } from '../outcome.ts'
import { quote } from '../safe-text.ts'
import { headersOf, type Stepped, type Trail } from './trail.ts'

export async function lookForOAuth(trail: Trail): Promise<Stepped> {
  const { url, wire } = trail
  const places = [pathInserted(url), `${url.origin}${WELL_KNOWN}`, issuerMetadata(url)]
  for (const place of new Set(places)) {
    const fetched = await fetchDocument(wire, new URL(place), headersOf(trail))
    if (fetched.kind === 'none' && fetched.answer === undefined)
      return {
        outcome: untried(
          `no answer at ${quote(new URL(place).pathname)}`,
          'check again, with a longer --timeout',
        ),
      }
    const fault = faultOf(fetched)
    if (fault !== undefined)
      return {
        outcome: wrong(
          `no token is required, but ${quote(new URL(place).pathname)} is ${fault}: it tries to register`,
          'answer 404 there, even if a page, a gateway or an API key check handles every path; or require a token with 401',
        ),
      }
  }
  return { outcome: works('404') }
}

/** What a client treats as a sign-in. A valid document belongs to a server that is partly open. */
function faultOf(fetched: Fetched): string | undefined {
  if (fetched.kind !== 'none' || fetched.answer === undefined) return undefined
  const { status, headers } = fetched.answer
  if (status === 200) return `HTTP 200 with ${essence(headers) || 'no content type'}, not metadata`
  return status === 401 || status === 403 || status >= 500 ? `HTTP ${status}` : undefined
}

function issuerMetadata({ origin }: URL): string {
  return `${origin}/.well-known/oauth-authorization-server`
}
