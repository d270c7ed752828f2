/** The metadata of an authorization server, looked for where clients look (RFC 8414, OpenID Connect Discovery). */

import { fetchDocument } from './document.ts'
import { isLocalHost } from './endpoint.ts'
import type { JsonObject } from './messages.ts'
import { degrades, type Outcome, works, wrong } from './outcome.ts'
import { quote } from './shown.ts'
import type { Wire } from './wire.ts'

/** What is found for one issuer. Sends no token. */
export async function authorizationServer(wire: Wire, issuer: string): Promise<Outcome> {
  if (!/^https?:/.test(issuer) || !URL.canParse(issuer))
    return wrong(`${quote(issuer)} is no URL`, 'name authorization servers by their issuer URL')
  const { protocol, hostname } = new URL(issuer)
  if (protocol === 'http:' && !isLocalHost(hostname))
    return wrong(`${quote(issuer)} is not https`, 'serve the authorization server with https')
  const places = wellKnownOf(new URL(issuer))
  for (const place of places) {
    const found = await fetchDocument(wire, place)
    if (found !== undefined) return judge(issuer, found.document)
  }
  return wrong(
    `${quote(issuer)} has no metadata`,
    `serve it at ${places[0]!.href}, or name the issuer as the server itself does`,
  )
}

/** In the order in which clients try. */
function wellKnownOf({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => new URL(`${origin}/.well-known/${name}${path}`),
  )
  return path === '' ? inserted : [...inserted, new URL(`${origin}${path}/.well-known/openid-configuration`)]
}

function judge(issuer: string, document: JsonObject): Outcome {
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
  const challenges = document.code_challenge_methods_supported
  if (!Array.isArray(challenges) || !challenges.includes('S256'))
    return wrong(
      `${name}: code_challenge_methods_supported does not name S256, so clients refuse to go on`,
      'support PKCE with S256 and say so',
    )
  if (
    document.client_id_metadata_document_supported === true ||
    typeof document.registration_endpoint === 'string'
  )
    return works(name)
  return degrades(
    `${name}: clients cannot register by themselves`,
    'support client ID metadata documents, or hand out client ids',
  )
}
