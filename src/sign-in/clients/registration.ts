/**
 * Dynamic registration (RFC 7591), for clients that have no metadata document. Anybody may register, so what is stored is limited; those who
 * come after that get an id that contains their registration.
 */
import { isA } from '../../definition/error-text.ts'
import { isObject } from '../../definition/is-object.ts'
import { asUnit, isFromHere, libraryFor, oauthError, type Signing } from '../signing.ts'
import type { ClientRecord, LibraryStore } from '../tokens/library.ts'
import { withPrivacy } from '../tokens/tokens.ts'
import { SignInBusyError } from '../unit.ts'
import { allowanceOf } from './limits.ts'
import { sealClient } from './sealed-client.ts'

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
  const headers = { 'content-type': 'application/json' }
  const given = new Request(signing.place.register, { method: 'POST', headers, body })
  let client: ClientRecord | undefined
  const response = await libraryFor(signing).fetch(
    given,
    { OAUTH_KV: capture((made) => (client = made)) },
    {},
  )
  if (response.status !== 201 || client === undefined) return withPrivacy(response)
  const made = client
  const answer = (await response.json()) as { readonly [member: string]: unknown }
  const answered = (members: object = {}): Response =>
    withPrivacy(new Response(JSON.stringify({ ...answer, ...members }), response))
  const answerSealed = async (): Promise<Response | undefined> => {
    const id = await sealClient(signing, made)
    if (id === undefined) return undefined
    // As long as the secret of this server.
    return answered({ client_id: id, ...('client_secret' in answer && { client_secret_expires_at: 0 }) })
  }
  // A website could register in all browsers that are on it.
  const isElsewhere = !isFromHere(request, signing.place)
  const sealed = isElsewhere ? await answerSealed() : undefined
  if (sealed !== undefined) return sealed
  const storing = asUnit(signing, async (unit) => {
    const allowance = await allowanceOf('registered', signing.address, unit)
    if (allowance?.isStored !== true) {
      const tooMany = 'Too many clients were registered: try again later, or with less metadata'
      return (await answerSealed()) ?? oauthError(429, 'temporarily_unavailable', tooMany)
    }
    await allowance.count()
    const until = Date.now() + UNUSED_MS
    const record: ClientRecord = { ...made, registrationExpiresAt: Math.floor(until / 1000) }
    unit.put(`client:${made.clientId}`, JSON.stringify(record), until)
    return answered()
  })
  return storing.catch(async (error: unknown) => {
    // So many register at once that their counters change each other's attempts.
    const instead = isA(error, SignInBusyError) ? await answerSealed() : undefined
    if (instead === undefined) throw error
    return instead
  })
}

/** A store for a registration alone, which writes one record. */
function capture(onClient: (client: ClientRecord) => void): LibraryStore {
  return {
    get: async () => null,
    put: async (_key, value) => onClient(JSON.parse(value) as ClientRecord),
    delete: async () => {},
    list: async () => ({ keys: [], list_complete: true }),
  }
}
