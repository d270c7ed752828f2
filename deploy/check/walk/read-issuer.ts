/** The authorization server's metadata, found like a client does. */
import { wellKnownOf } from '../authorization-server.ts'
import type { ReadIssuer } from '../clients/profile.ts'
import { fetchDocument } from '../document.ts'
import type { JsonObject } from '../messages.ts'
import { DEPLOYED, hint, type Outcome, untried, works, wrong } from '../outcome.ts'
import { quote } from '../safe-text.ts'
import { headersOf, type Stepped, type Trail } from './trail.ts'

type Search =
  | { readonly kind: 'found'; readonly document: JsonObject }
  | { readonly kind: 'none'; readonly said: string }
  /** Not fetched: it is in a private network, or without TLS. */
  | { readonly kind: 'refused'; readonly why: string }

/** `triesRoot`: also try the root of an issuer that has a path. Sends no token. */
export async function findServer(trail: Trail, issuer: string, triesRoot: boolean): Promise<Search> {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    return { kind: 'none', said: 'it is not a URL' }
  const root = new URL('/.well-known/oauth-authorization-server', url)
  const places = new Set([...wellKnownOf(url), ...(triesRoot ? [root] : [])].map(({ href }) => href))
  const said: string[] = []
  for (const place of places) {
    const fetched = await fetchDocument(trail.wire, new URL(place), headersOf(trail))
    if (fetched.kind === 'refused') return fetched
    if (fetched.kind === 'document' && typeof fetched.document.issuer === 'string')
      return { kind: 'found', document: fetched.document }
    const status =
      fetched.kind === 'none' && fetched.answer !== undefined ? `HTTP ${fetched.answer.status}` : 'none'
    said.push(fetched.kind === 'document' ? 'no "issuer"' : status)
  }
  return { kind: 'none', said: [...new Set(said)].join(', ') }
}

export async function readIssuer(step: ReadIssuer, trail: Trail): Promise<Stepped> {
  const { issuers = [], url } = trail
  const named = step.tries === 'first' ? issuers.slice(0, 1) : issuers.slice(0, MAX_ISSUERS)
  const candidates = step.fallsBack ? [...new Set([...named, url.origin])] : named
  let first: Exclude<Search, { kind: 'found' }> | undefined
  for (const issuer of candidates) {
    const search = await findServer(trail, issuer, step.triesRoot)
    if (search.kind === 'found')
      return { outcome: judge(issuer, search.document), found: { server: search.document } }
    // The client may find this one: the next would say nothing about it.
    if (search.kind === 'refused' && trail.endpoint.isLocal) return refusedBy(issuer, search.why, trail)
    first ??= search
  }
  if (first?.kind === 'refused') return refusedBy(candidates[0], first.why, trail)
  const place = URL.canParse(candidates[0] ?? '') ? wellKnownOf(new URL(candidates[0]!))[0]!.href : ''
  return {
    outcome: wrong(
      `${quote(candidates[0])} has no metadata (${first?.said ?? 'none is named'})`,
      `serve it as JSON at ${quote(place)}, or correct the issuer in authorization_servers`,
    ),
  }
}

function refusedBy(issuer: string | undefined, why: string, trail: Trail): Stepped {
  return notAsked(`${quote(issuer)} was not checked, ${why}`, trail)
}

const ELSEWHERE = `${DEPLOYED} server, whose authorization server is at an https URL`

/** During local development the issuer may be at a URL that is not fetched; elsewhere clients cannot reach it either. */
export function notAsked(said: string, { endpoint }: Trail): Stepped {
  return endpoint.isLocal
    ? { outcome: untried(said, ELSEWHERE), signInEnds: untried('not checked', ELSEWHERE) }
    : { outcome: wrong(said, 'use an https URL that clients can reach from everywhere') }
}

/** A limit, since the server controls the list. */
const MAX_ISSUERS = 3

function judge(issuer: string, document: JsonObject): Outcome {
  const missing = ['authorization_endpoint', 'token_endpoint'].filter(
    (name) => typeof document[name] !== 'string' || !URL.canParse(String(document[name])),
  )
  if (missing.length > 0)
    return wrong(`${quote(issuer)}: no URL as ${missing.join(' and ')}`, `add ${missing.join(' and ')}`)
  return document.issuer === issuer
    ? works(quote(issuer))
    : hint(
        `its "issuer" is ${quote(document.issuer)}, but authorization_servers has ${quote(issuer)}: clients that compare refuse it`,
        'use the same string in both documents, including a trailing slash',
      )
}
