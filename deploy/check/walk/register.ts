/** How a client registers with the authorization server: by its metadata document, or dynamically (RFC 7591). */
import { isA } from '../../../src/definition/error-text.ts'
import type { Register } from '../clients/profile.ts'
import { parseDocument, whyNotAsked } from '../document.ts'
import type { Answer } from '../http.ts'
import type { JsonObject } from '../messages.ts'
import { degrades, hint, type Outcome, Stop, untried, works, wrong } from '../outcome.ts'
import { quote } from '../safe-text.ts'
import { notAsked } from './read-issuer.ts'
import { headersOf, type Stepped, stopped, type Trail } from './trail.ts'

export async function register(step: Register, trail: Trail): Promise<Stepped> {
  const { server = {} } = trail
  const unable = methodFault(step, server)
  if (unable !== undefined) return { outcome: unable }
  if (step.ways.includes('document') && server.client_id_metadata_document_supported === true)
    return { outcome: works('by its client ID metadata document') }
  const endpoint = server.registration_endpoint
  if (typeof endpoint !== 'string') return { outcome: unregistered(step, server) }
  if (!URL.canParse(endpoint))
    return { outcome: wrong(`registration_endpoint is ${quote(endpoint)}, not a URL`, 'correct it') }
  if (!trail.mayRegister)
    return {
      outcome: untried(
        'registration_endpoint exists; not tested (--no-register)',
        'leave out --no-register, which leaves a registration at some servers',
      ),
    }
  return { outcome: await tryToRegister(step, trail, new URL(endpoint)) }
}

function unregistered({ otherwise, ways }: Register, server: JsonObject): Outcome {
  const isDocumentAlone = server.client_id_metadata_document_supported === true
  const said = isDocumentAlone
    ? 'no registration_endpoint, and it has no client ID metadata document'
    : 'clients cannot register: neither registration_endpoint nor client ID metadata documents are supported'
  const offer = ways.includes('document')
    ? 'support client ID metadata documents, or dynamic registration'
    : 'support dynamic registration: add registration_endpoint'
  const fix = `${offer}; or give its users ${otherwise.how}`
  return otherwise.isAsked ? degrades(`${said}; it prompts its user for a client id`, fix) : wrong(said, fix)
}

function methodFault({ tokenMethods }: Register, server: JsonObject): Outcome | undefined {
  const methods = server.token_endpoint_auth_methods_supported
  if (tokenMethods === undefined || !Array.isArray(methods)) return undefined
  return tokenMethods.some((method) => methods.includes(method))
    ? undefined
    : wrong(
        `token_endpoint_auth_methods_supported is ${quote(methods)}, and it has only ${tokenMethods.join(' and ')}`,
        `accept ${tokenMethods.join(' or ')} at the token endpoint, and list it`,
      )
}

/** Registers under its own name, with the client's redirect URIs, and deletes the registration if the server allows it. */
async function tryToRegister(step: Register, trail: Trail, endpoint: URL): Promise<Outcome> {
  const why = whyNotAsked(trail.wire, endpoint)
  if (why !== undefined) return notAsked(`${quote(endpoint.href)} was not requested, ${why}`, trail).outcome
  const body = {
    client_name: `mayfly check as ${trail.profile.id}`,
    ...step.request,
    response_types: ['code'],
  }
  const answer = await post(trail, endpoint, JSON.stringify(body))
  if (answer instanceof Stop) return stopped(answer)
  const document = parseDocument(answer.body)
  if (answer.status < 200 || answer.status > 299) return refused(step, answer, document)
  const outcome = judge(step, answer, document)
  if (await deleteAgain(trail, endpoint, document ?? {})) return outcome
  const id = document?.client_id
  const which = typeof id === 'string' && id !== '' ? `client ${quote(id)}` : `"${body.client_name}"`
  return {
    ...outcome,
    detail: `${outcome.detail}; the registration stays: remove ${which} from the authorization server’s clients, or let it expire`,
  }
}

function judge(
  { request, wantsClientUri }: Register,
  { status }: Answer,
  document: JsonObject | undefined,
): Outcome {
  if (typeof document?.client_id !== 'string')
    return wrong(
      `registration: HTTP ${status} without "client_id" in JSON`,
      'answer 201 with the client information as JSON (RFC 7591 §3.2.1)',
    )
  const { redirect_uris: registered, registration_client_uri: uri } = document
  const isOther =
    Array.isArray(registered) && request.redirect_uris.some((each) => !registered.includes(each))
  if (isOther)
    return wrong(
      `registered with redirect_uris ${quote(registered)}, not those that it sent: it uses the answer’s`,
      'answer with the redirect_uris of the request',
    )
  return wantsClientUri && typeof uri !== 'string'
    ? hint(
        'registered, but without registration_client_uri, which it was once observed to require',
        'add registration_client_uri to the answer (RFC 7592 §3)',
      )
    : works('dynamically')
}

function refused(
  { request }: Register,
  { status, headers }: Answer,
  document: JsonObject | undefined,
): Outcome {
  const code = typeof document?.error === 'string' ? document.error : document?.code
  const reason = document?.error_description ?? document?.message
  const said = `registration: HTTP ${status}${code === undefined ? '' : ` ${quote(code)}`}${reason === undefined ? '' : `: ${quote(reason)}`}`
  if (status === 429) return untried(said, 'check again later')
  if (status >= 300 && status < 400)
    return wrong(`${said}, a redirect to ${quote(headers.get('location'))}`, 'answer errors as JSON with 400')
  if (status === 401 || status === 403)
    return wrong(
      said,
      `let clients register without a token; if only public clients may, answer the request with "token_endpoint_auth_method": "none"`,
    )
  return wrong(
    said,
    status === 400
      ? `accept token_endpoint_auth_method ${request.token_endpoint_auth_method} (or answer another one) and the redirect URIs ${request.redirect_uris.join(', ')}`
      : 'answer POST at registration_endpoint with 201 and the client as JSON, or omit the member',
  )
}

/** RFC 7592 §2.3. False if the registration remains, for example because the server sent no token for it. */
async function deleteAgain(trail: Trail, endpoint: URL, document: JsonObject): Promise<boolean> {
  const { registration_client_uri: uri, registration_access_token: token } = document
  if (typeof uri !== 'string' || typeof token !== 'string' || !URL.canParse(uri, endpoint.href)) return false
  const url = new URL(uri, endpoint.href)
  // The token is only for the server that issued it.
  if (url.origin !== endpoint.origin || !/^[\x21-\x7e]+$/.test(token)) return false
  try {
    const { status } = await trail.wire.send({
      label: 'DELETE of a registration',
      method: 'DELETE',
      url,
      headers: { authorization: `Bearer ${token}` },
      credentials: 'none',
      statuses: 'any',
      isEnough: () => true,
    })
    return status >= 200 && status < 300
  } catch (error) {
    if (isA(error, Stop)) return false
    throw error
  }
}

async function post(trail: Trail, url: URL, body: string): Promise<Answer | Stop> {
  try {
    return await trail.wire.send({
      label: 'registration',
      url,
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headersOf(trail) },
      credentials: 'none',
      statuses: 'any',
    })
  } catch (error) {
    if (isA(error, Stop)) return error
    throw error
  }
}
