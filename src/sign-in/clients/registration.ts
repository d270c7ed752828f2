/** Dynamic registration (RFC 7591), for clients that have no metadata document: limited, since anybody may register. */
import { isObject } from '../../definition/is-object.ts'
import { asUnit, libraryFor, oauthError, type Signing } from '../signing.ts'
import type { ClientRecord } from '../tokens/library.ts'
import { withPrivacy } from '../tokens/tokens.ts'
import { counting } from './limits.ts'

const MAX_BODY_CHARACTERS = 16_384
const MAX_REDIRECT_URIS = 20
const MAX_URI_CHARACTERS = 2048
/** How long a client is kept that nobody has signed in with. Its first tokens make it last. */
const UNUSED_MS = 24 * 60 * 60 * 1000

export async function register(request: Request, body: string, signing: Signing): Promise<Response> {
  if (request.method !== 'POST') {
    const refused = oauthError(405, 'invalid_request', 'Registration needs POST')
    refused.headers.set('allow', 'POST, OPTIONS')
    return refused
  }
  const refuse = (why: string) => oauthError(400, 'invalid_client_metadata', why)
  if (body.length > MAX_BODY_CHARACTERS)
    return oauthError(
      413,
      'invalid_client_metadata',
      `A registration has at most ${MAX_BODY_CHARACTERS} characters`,
    )
  let metadata: unknown
  try {
    metadata = JSON.parse(body)
  } catch {
    return refuse('The registration is not JSON')
  }
  if (!isObject(metadata)) return refuse('The registration is not an object')
  const uris = metadata.redirect_uris
  if (Array.isArray(uris) && uris.length > MAX_REDIRECT_URIS)
    return oauthError(400, 'invalid_redirect_uri', `A client has at most ${MAX_REDIRECT_URIS} redirect_uris`)
  if (Array.isArray(uris) && uris.some((uri) => String(uri).length > MAX_URI_CHARACTERS))
    return oauthError(
      400,
      'invalid_redirect_uri',
      `A redirect URI has at most ${MAX_URI_CHARACTERS} characters`,
    )
  return asUnit(signing, async (unit) => {
    const count = await counting('registered', signing.address, unit)
    if (count === undefined)
      return oauthError(429, 'temporarily_unavailable', 'Too many clients were registered: try again later')
    const headers = { 'content-type': 'application/json' }
    const given = new Request(signing.place.register, { method: 'POST', headers, body })
    const response = await libraryFor(signing).fetch(given, { OAUTH_KV: unit.library }, {})
    if (response.status !== 201) {
      count.byNetwork()
      return withPrivacy(response)
    }
    await count.inAll()
    const answer = (await response.json()) as { readonly client_id: string }
    const key = `client:${answer.client_id}`
    const client = JSON.parse(unit.pending(key) ?? '') as ClientRecord
    const until = Date.now() + UNUSED_MS
    const record: ClientRecord = { ...client, registrationExpiresAt: Math.floor(until / 1000) }
    unit.put(key, JSON.stringify(record), until)
    return withPrivacy(new Response(JSON.stringify(answer), response))
  })
}
