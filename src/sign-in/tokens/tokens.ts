/**
 * The token endpoint (RFC 6749 §3.2) and revocation (RFC 7009). The library issues; around it are what it lacks for refresh tokens (RFC 9700
 * §4.14.2): each is used once, with the same answer again for a client that lost it, and its later use by anybody ends the connection.
 */

import { digest } from '../../definition/digest.ts'
import { isA, textOf } from '../../definition/error-text.ts'
import { ASSERTION_TYPE, assertedClient, type Proof, readAssertion } from '../clients/assertion.ts'
import { ClientRefusedError } from '../clients/document-content.ts'
import { ClientLimitError, ClientUnreachableError } from '../clients/documents.ts'
import { asUnit, libraryFor, oauthError, offered, type Signing } from '../signing.ts'
import type { Unit } from '../unit.ts'
import { keepUpstreamTokens } from '../upstream/tokens.ts'
import { readBasic } from './basic.ts'
import { endGrant, grantKey, isGrantPart } from './grants.ts'
import type { GrantRecord, LibraryFailure } from './library.ts'
import { machineNamed, machineToken } from './machine-tokens.ts'

/** How long a used refresh token gets the same answer again: its client may have lost it, or two of its processes were as fast. */
const REPEAT_MS = 30_000

/** A refresh token as clients have it: the library's, and a tag by which every one that was issued is known, however old. */
interface Presented {
  readonly token: string
  readonly isOurs: boolean
}

/** What an answer was given to. */
interface Repeat {
  readonly clientId: string
  readonly answer: string
}

export async function token(request: Request, sent: URLSearchParams, signing: Signing): Promise<Response> {
  const machine = machineNamed(request, sent, signing)
  try {
    return await (machine === undefined
      ? clientToken(request, sent, signing)
      : machineToken(request, sent, machine, signing))
  } catch (error) {
    const refused = refusalFor(error)
    if (refused === undefined) throw error
    // A machine's keys are the operator's matter.
    if (machine !== undefined) signing.report(error)
    return refused
  }
}

function refusalFor(error: unknown): Response | undefined {
  if (isA(error, ClientUnreachableError)) return oauthError(503, 'temporarily_unavailable', textOf(error))
  if (isA(error, ClientLimitError)) return oauthError(429, 'temporarily_unavailable', textOf(error))
  return isA(error, ClientRefusedError) ? oauthError(401, 'invalid_client', textOf(error)) : undefined
}

/** For a client that a person let in. */
async function clientToken(request: Request, sent: URLSearchParams, signing: Signing): Promise<Response> {
  const field = sent.get('grant_type') === 'refresh_token' ? 'refresh_token' : 'token'
  const presented = await untagged(signing, sent.get(field) ?? '')
  if (sent.has(field)) sent.set(field, presented.token)
  const isRefresh = field === 'refresh_token'
  if (isRefresh && sent.has(field) && !presented.isOurs)
    return oauthError(400, 'invalid_grant', 'This is not a refresh token of this server')
  // It was in the authorization request, which is refused without it (RFC 6749 §4.1.3).
  if (sent.get('grant_type') === 'authorization_code' && !sent.get('redirect_uri'))
    return oauthError(400, 'invalid_request', 'redirect_uri is missing')
  return asUnit(signing, async (unit) => {
    const form = new URLSearchParams(sent)
    const { refused, proof } = await authenticate(form, signing, unit)
    if (refused !== undefined) return refused
    let failure: LibraryFailure | undefined
    const library = libraryFor(signing, (failed) => {
      failure = failed
    })
    const response = await library.fetch(toLibrary(request, form, signing), { OAUTH_KV: unit.library }, {})
    // The grant exists, for others.
    if (
      failure?.code === 'unsupported_grant_type' &&
      form.get('grant_type') === 'client_credentials' &&
      signing.machines.size > 0
    )
      return oauthError(400, 'unauthorized_client', 'This client is not one of "machines"')
    if (failure?.internal?.reason === 'refresh_token_mismatch') {
      const again = await reused(request, form, signing, unit, presented.token, response)
      if (again.ok) proof?.use()
      return again
    }
    if (response.ok && !form.has('grant_type') && presented.isOurs)
      await endOwn(request, form, unit, presented.token)
    if (!response.ok || !form.has('grant_type')) return withPrivacy(response)
    const answer = (await response.json()) as { [member: string]: unknown }
    if (typeof answer.refresh_token === 'string')
      answer.refresh_token = `${answer.refresh_token}.${await signing.keys.tag(answer.refresh_token)}`
    // What the operator takes away is in no new token.
    if (typeof answer.scope === 'string') answer.scope = offered(answer.scope.split(' '), signing).join(' ')
    const text = JSON.stringify(answer)
    if (isRefresh) await remember(request, form, signing, unit, presented.token, text)
    const [sub, grantId] = String(answer.access_token).split(':')
    if (isGrantPart(sub) && isGrantPart(grantId)) {
      if (!(await keepUpstreamTokens(signing, unit, sub, grantId))) {
        endGrant(unit, sub, grantId)
        return oauthError(
          400,
          'invalid_grant',
          'This server has another identity provider now: sign in again',
        )
      }
    }
    const clientId = clientIdOf(request, form)
    if (clientId.startsWith('https:')) await signing.documents.keep(clientId, unit, signing)
    proof?.use()
    return withPrivacy(new Response(text, response))
  })
}

/**
 * Clients with a document: the library knows them as public ones, so their proof is checked here. What it does not need is taken out of
 * the form. Neither: go on.
 */
async function authenticate(
  form: URLSearchParams,
  signing: Signing,
  unit: Unit,
): Promise<{ readonly refused?: Response; readonly proof?: Proof }> {
  const assertion = form.get('client_assertion')
  const clientId = form.get('client_id') || assertedClient(assertion ?? '')
  const refuse = () => ({ refused: oauthError(401, 'invalid_client', 'Client authentication failed') })
  if (clientId?.startsWith('https:') !== true) return assertion === null ? {} : refuse()
  const client = await signing.documents.client(clientId, signing)
  if (assertion === null) return client.isPublic ? {} : refuse()
  const keys = signing.documents.keysOf(client, signing)
  if (form.get('client_assertion_type') !== ASSERTION_TYPE || keys === undefined) return refuse()
  const proof = await readAssertion(assertion, clientId, keys, signing, unit)
  if (proof === undefined) return refuse()
  proven(form, clientId)
  return { proof }
}

function proven(form: URLSearchParams, clientId: string): void {
  for (const name of ['client_assertion', 'client_assertion_type']) form.delete(name)
  form.set('client_id', clientId)
}

/** The same request as the library knows it: at the URL of its configuration. */
function toLibrary(request: Request, form: URLSearchParams, { place }: Signing): Request {
  const headers = new Headers(request.headers)
  headers.delete('content-length')
  headers.delete('origin')
  const body = request.method === 'POST' ? { body: form.toString() } : {}
  return new Request(place.token, { method: request.method, headers, ...body })
}

async function untagged({ keys }: Signing, text: string): Promise<Presented> {
  const dot = text.lastIndexOf('.')
  if (dot < 0) return { token: text, isOurs: false }
  const token = text.slice(0, dot)
  return (await keys.isTag(token, text.slice(dot + 1)))
    ? { token, isOurs: true }
    : { token: text, isOurs: false }
}

async function remember(
  request: Request,
  form: URLSearchParams,
  { keys }: Signing,
  unit: Unit,
  used: string,
  answer: string,
): Promise<void> {
  const key = await repeatKey(used)
  const repeat: Repeat = { clientId: clientIdOf(request, form), answer }
  unit.put(key, await keys.seal(`${key}:${used}`, repeat), Date.now() + REPEAT_MS)
}

/** A refresh token that is revoked ends its connection, also if it was used before: the library knows only the current one (RFC 7009 §2.1). */
async function endOwn(request: Request, form: URLSearchParams, unit: Unit, token: string): Promise<void> {
  const [sub, grantId] = token.split(':')
  if (!isGrantPart(sub) || !isGrantPart(grantId)) return
  const text = await unit.read(grantKey(sub, grantId))
  if (text === undefined || (JSON.parse(text) as GrantRecord).clientId !== clientIdOf(request, form)) return
  endGrant(unit, sub, grantId)
}

/** A token that was used: the client is authenticated, and the token is one that was issued. */
async function reused(
  request: Request,
  form: URLSearchParams,
  signing: Signing,
  unit: Unit,
  used: string,
  refusal: Response,
): Promise<Response> {
  const key = await repeatKey(used)
  const sealed = (await unit.peek(key))?.value
  const repeat =
    sealed === undefined
      ? undefined
      : ((await signing.keys.open(`${key}:${used}`, sealed)) as Repeat | undefined)
  if (repeat !== undefined && repeat.clientId === clientIdOf(request, form)) {
    const headers = { 'content-type': 'application/json', pragma: 'no-cache' }
    return withPrivacy(new Response(repeat.answer, { headers }))
  }
  const [sub, grantId] = used.split(':')
  if (isGrantPart(sub) && isGrantPart(grantId)) endGrant(unit, sub, grantId)
  signing.report(
    new Error('A refresh token was used twice, so its connection was ended: it may have been stolen.'),
  )
  return withPrivacy(refusal)
}

const repeatKey = async (used: string): Promise<string> => `again:${await digest(used)}`

/** Of a request that the library has authenticated. */
function clientIdOf(request: Request, form: URLSearchParams): string {
  const inBody = form.get('client_id')
  if (inBody !== null && inBody !== '') return inBody
  return readBasic(request)?.id ?? ''
}

/** CORS is added where the response leaves. */
export function withPrivacy(response: Response): Response {
  const headers = new Headers(response.headers)
  for (const name of [...headers.keys()])
    if (name.startsWith('access-control-') || name === 'vary') headers.delete(name)
  headers.set('cache-control', 'no-store')
  headers.set('x-content-type-options', 'nosniff')
  return new Response(response.body, { status: response.status, headers })
}
