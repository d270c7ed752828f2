/** The metadata of an authorization server, found where clients look for it (RFC 8414, OpenID Connect Discovery). */

import { isLocalHost } from './addresses.ts'
import { fetchDocument } from './document.ts'
import type { Endpoint } from './endpoint.ts'
import type { JsonObject } from './messages.ts'
import { degrades, type Outcome, skipped, works, wrong } from './outcome.ts'
import { quote } from './safe-text.ts'

/** The metadata found for one issuer. Sends no token. */
export async function authorizationServer(endpoint: Endpoint, issuer: string): Promise<Outcome> {
  const url = /^https?:/.test(issuer) && URL.canParse(issuer) ? new URL(issuer) : undefined
  if (url === undefined || url.search !== '' || url.hash !== '')
    return wrong(
      `${quote(issuer)} is not the URL of an issuer`,
      'name authorization servers by their issuer URL',
    )
  const isLocal = isLocalHost(url.hostname)
  if (url.protocol === 'http:' && !isLocal)
    return wrong(`${quote(issuer)} is not https`, 'serve the authorization server with https')
  if (isLocal && !endpoint.isLocal)
    return wrong(
      `${quote(issuer)} is on a local host, which other clients cannot reach: it was not checked`,
      'use the URL at which clients reach the authorization server',
    )
  const places = wellKnownOf(url)
  for (const place of places) {
    const fetched = await fetchDocument(endpoint.wire, place)
    if (fetched.kind === 'document') return judge(issuer, fetched.document, endpoint.isLocal)
    if (fetched.kind === 'refused') return refused(issuer, fetched.why, isLocal)
  }
  return wrong(
    `${quote(issuer)} has no metadata`,
    `serve it at ${quote(places[0]!.href)}, or write the issuer as the authorization server does`,
  )
}

/** During local development http is fine; elsewhere clients may not reach the issuer either. */
function refused(issuer: string, why: string, isLocal: boolean): Outcome {
  const said = `${quote(issuer)} was not checked, ${why}`
  return isLocal
    ? skipped(said)
    : degrades(said, 'use a URL of the authorization server that clients can reach from everywhere')
}

/** The URLs, in the order in which clients try them. */
export function wellKnownOf({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => new URL(`${origin}/.well-known/${name}${path}`),
  )
  return path === '' ? inserted : [...inserted, new URL(`${origin}${path}/.well-known/openid-configuration`)]
}

function judge(issuer: string, document: JsonObject, isLocal: boolean): Outcome {
  const name = quote(issuer)
  const missing = ['authorization_endpoint', 'token_endpoint'].filter(
    (key) => typeof document[key] !== 'string',
  )
  if (document.issuer !== issuer)
    return wrong(
      `${name}: its "issuer" is ${quote(document.issuer)}, so clients must not use it`,
      'use the same string for the issuer in both documents, trailing slash included',
    )
  if (missing.length > 0) return wrong(`${name}: no ${missing.join(', ')}`, `add ${missing.join(', ')}`)
  const unsafe = ENDPOINTS.find((key) => document[key] !== undefined && !isSafe(document[key], isLocal))
  if (unsafe !== undefined)
    return wrong(
      `${name}: ${unsafe} is ${quote(document[unsafe])}, which clients must not open`,
      `serve ${unsafe} with https`,
    )
  const challenges = document.code_challenge_methods_supported
  if (!Array.isArray(challenges) || !challenges.includes('S256'))
    return wrong(
      `${name}: code_challenge_methods_supported does not list S256, so clients stop`,
      'support PKCE with S256 and list it',
    )
  if (
    document.client_id_metadata_document_supported === true ||
    typeof document.registration_endpoint === 'string'
  )
    return works(name)
  return degrades(
    `${name}: clients cannot register`,
    'support client ID metadata documents, or give users client ids',
  )
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint'] as const

/** MCP, "Communication Security": https; http is allowed on a local host, here only if the checked server is local too. */
function isSafe(endpoint: unknown, isLocal: boolean): boolean {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false
  const { protocol, hostname } = new URL(endpoint)
  return protocol === 'https:' || (isLocal && protocol === 'http:' && isLocalHost(hostname))
}
