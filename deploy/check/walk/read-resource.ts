/** The protected resource metadata, found and accepted like a client does (RFC 9728). */
import { isListOfText, pathInserted, WELL_KNOWN } from '../authorization.ts'
import type { ReadResource } from '../clients/profile.ts'
import { fetchDocument } from '../document.ts'
import type { JsonObject } from '../messages.ts'
import { degrades, type Outcome, skipped, works, wrong } from '../outcome.ts'
import { quote } from '../safe-text.ts'
import { findServer } from './read-issuer.ts'
import { headersOf, type Stepped, type Trail } from './trail.ts'

/** The document at a URL, or why the client does not use it. */
type Look = { readonly document: JsonObject } | Fault

interface Fault {
  readonly fault: string
  readonly fix: string
  /** Whether an invalid document was found, which is more informative than a missing one at the next URL. */
  readonly isThere: boolean
  readonly isFinal?: boolean
}

export async function readResource(step: ReadResource, trail: Trail): Promise<Stepped> {
  const faults: Fault[] = []
  for (const place of placesOf(step, trail)) {
    const look = await lookAt(place, step, trail)
    if ('document' in look)
      return accepted(
        look.document,
        step,
        faults.find(({ isThere }) => isThere),
      )
    faults.push(look)
    if (look.isFinal) return { outcome: wrong(look.fault, look.fix) }
  }
  return withoutDocument(step, trail, faults.find(({ isThere }) => isThere) ?? faults[0]!)
}

function placesOf({ places, isChallengeFinal }: ReadResource, { url, challenge }: Trail): string[] {
  const named = challenge?.metadataUrl
  if (named !== undefined && isChallengeFinal) return [named]
  const all = { challenge: named, path: pathInserted(url), root: `${url.origin}${WELL_KNOWN}` }
  return [...new Set(places.map((place) => all[place]))].filter((place) => place !== undefined)
}

async function lookAt(place: string, step: ReadResource, trail: Trail): Promise<Look> {
  if (!URL.canParse(place)) return missing(`the challenge names ${quote(place)}, which is not a URL`, trail)
  const fetched = await fetchDocument(trail.wire, new URL(place), headersOf(trail))
  if (fetched.kind === 'refused') return missing(`${quote(place)} is not fetched, ${fetched.why}`, trail)
  if (fetched.kind === 'none') {
    const said = fetched.answer === undefined ? 'no answer' : `HTTP ${fetched.answer.status}, no JSON object`
    return missing(`${quote(place)}: ${said}`, trail)
  }
  const { resource } = fetched.document
  const fix = `set "resource" to ${trail.url.origin}${trail.url.pathname}, as its users enter it`
  if (typeof resource !== 'string' || !URL.canParse(resource))
    return { fault: `${quote(place)}: "resource" is ${quote(resource)}, not a URL`, fix, isThere: true }
  return isSame(new URL(resource), trail.url, step.compares)
    ? { document: fetched.document }
    : {
        fault: `${quote(place)}: "resource" is ${quote(resource)}, not the URL that is entered: it refuses the document`,
        fix,
        isThere: true,
        isFinal: step.mismatch === 'stop',
      }
}

function missing(fault: string, { url }: Trail): Fault {
  return {
    fault,
    fix: `serve the metadata at ${pathInserted(url)}; if a gateway hides that path, serve it at any URL and send WWW-Authenticate: Bearer resource_metadata="…"`,
    isThere: false,
  }
}

/** The query counts only if the client compares the whole URL. */
function isSame(resource: URL, url: URL, compares: ReadResource['compares']): boolean {
  if (compares === 'nothing') return true
  if (resource.origin !== url.origin) return false
  const [described, asked] = [resource.pathname, url.pathname]
  if (compares === 'URL') return described === asked && resource.search === url.search
  if (compares === 'URL except a trailing slash') return bare(described) === bare(asked)
  return `${bare(asked)}/`.startsWith(`${bare(described)}/`)
}

function bare(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function accepted(
  document: JsonObject,
  { takesHeaders }: ReadResource,
  passedOver: Fault | undefined,
): Stepped {
  const { authorization_servers: servers } = document
  const found = { resource: document }
  if (servers === undefined || (Array.isArray(servers) && servers.length === 0)) {
    const signInEnds = skipped('no authorization server is named')
    const said = 'no authorization server is named: tokens are issued beforehand'
    return takesHeaders
      ? { found, signInEnds, outcome: works(`${said}, and entered as a header`) }
      : {
          found,
          outcome: wrong(
            `${said}, which it does not support`,
            'name an authorization server in authorization_servers',
          ),
        }
  }
  if (!isListOfText(servers))
    return {
      outcome: wrong(
        `"authorization_servers" is ${quote(servers)}, not an array of strings`,
        'list the issuer URLs of the authorization servers, as strings',
      ),
    }
  const outcome: Outcome =
    passedOver === undefined
      ? works(quote(document.resource))
      : degrades(`${passedOver.fault}, and finds another`, passedOver.fix)
  return { outcome, found: { ...found, issuers: servers } }
}

async function withoutDocument(
  { without }: ReadResource,
  trail: Trail,
  { fault, fix }: Fault,
): Promise<Stepped> {
  if (without === 'stop') return { outcome: wrong(fault, fix) }
  const { origin } = trail.url
  const own = await findServer(trail, origin, true)
  if (own.kind !== 'found')
    return {
      outcome: wrong(
        `${fault}; it then uses ${quote(origin)} as the authorization server, which it is not`,
        fix,
      ),
    }
  return {
    outcome: degrades(`${fault}; it uses ${quote(origin)} as the authorization server`, fix),
    found: { issuers: [origin] },
  }
}
