/**
 * What an identity provider says of the settings before anybody signs in, for `mayfly doctor --online`: its metadata, an authorization
 * request that nobody follows, and a code that it never issued. Never part of a server.
 */
import { boundedFetch, FetchFault } from '../../src/definition/bounded-fetch.ts'
import { digest } from '../../src/definition/digest.ts'
import { cut, isA, memberOf, textOf } from '../../src/definition/error-text.ts'
import { withTimeout } from '../../src/definition/timeout.ts'
import type { Upstream } from '../../src/sign-in/upstream/upstream.ts'
import type { Finding } from '../contract/target.ts'

export interface Asking {
  readonly env: unknown
  /** The redirect URL of the deployed server. Undefined: its host is not known. */
  readonly redirectUri: string | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/** Milliseconds for all questions to one provider. */
const ALL_MS = 20_000
/** Milliseconds for one request of doctor's own. */
const REQUEST_MS = 5000
const MAX_BYTES = 512 * 1024
/** No provider has issued it. */
const CODE = 'mayfly-doctor-has-no-code'
/** Nobody's host (RFC 2606), for questions about the client alone. */
const NO_REDIRECT = 'https://host.invalid/oauth/callback'

/** Never rejects. Takes at most 20 seconds. */
export async function askProvider(upstream: Upstream, asking: Asking): Promise<Finding[]> {
  const { name } = upstream
  try {
    return await withTimeout(askAll(upstream, asking), ALL_MS, name)
  } catch (error) {
    return [cannotAsk(name, textOf(error))]
  }
}

async function askAll(upstream: Upstream, asking: Asking): Promise<Finding[]> {
  const { name, id } = upstream
  const url = upstream.metadataUrl?.(asking.env)
  if (url === undefined && id !== 'github')
    return [{ level: 'ok', message: `${name} cannot be asked: it is your own Upstream` }]
  const { metadata, findings } = url === undefined ? NOTHING : await askMetadata(upstream, url, asking)
  if (findings.some(({ level }) => level === 'error')) return [...findings]
  const asked = await Promise.all([
    askAboutClient(upstream, metadata, asking),
    askAboutRedirect(upstream, asking),
  ])
  return unique([...findings, ...asked])
}

/** One cause may answer several questions. */
function unique(findings: readonly Finding[]): Finding[] {
  return findings.filter((one, at) => findings.findIndex(({ message }) => message === one.message) === at)
}

interface Metadata {
  readonly [member: string]: unknown
}

interface AskedMetadata {
  readonly metadata: Metadata
  readonly findings: readonly Finding[]
}

const NOTHING: AskedMetadata = { metadata: {}, findings: [] }

/** OpenID Connect Discovery 1.0 §4. */
async function askMetadata(
  { name, scopes = [] }: Upstream,
  url: string,
  asking: Asking,
): Promise<AskedMetadata> {
  const answer = await ask(url, asking)
  const metadata: unknown = parsed(answer.body)
  const where = `the metadata at ${url}`
  if (answer.status !== 200 || metadata === undefined) {
    const says = memberOf(metadata, 'error_description') ?? memberOf(metadata, 'message')
    const why = typeof says === 'string' ? `: ${cut(oneLine(says), 160)}` : ''
    const message = `${name} answers ${answer.status} for ${where}${why}`
    if (answer.status >= 500 || answer.status === 429)
      throw new Error(`it answers ${answer.status} for ${where}`)
    return {
      metadata: {},
      findings: [{ level: 'error', message: `${message}; check the issuer, tenant or pool` }],
    }
  }
  const issuer = url.slice(0, -'/.well-known/openid-configuration'.length)
  const named = memberOf(metadata, 'issuer')
  const problems: Finding[] = []
  const isTemplate = typeof named === 'string' && named.includes('{tenantid}')
  if (!isTemplate && (typeof named !== 'string' || named.replace(/\/$/, '') !== issuer.replace(/\/$/, '')))
    problems.push({
      level: 'error',
      message: `${where} is that of another issuer, ${cut(oneLine(String(named)), 160)}: that is the one to configure`,
    })
  for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    if (typeof memberOf(metadata, member) !== 'string')
      problems.push({ level: 'error', message: `${where} has no ${member}` })
  const lacks = (member: string, wanted: readonly string[]): string[] => {
    const listed = memberOf(metadata, member)
    return Array.isArray(listed) ? wanted.filter((one) => !listed.includes(one)) : []
  }
  if (lacks('code_challenge_methods_supported', ['S256']).length > 0)
    problems.push({ level: 'warning', message: `${where} does not list S256, which sign-in uses (RFC 7636)` })
  if (lacks('token_endpoint_auth_methods_supported', SECRETS).length === SECRETS.length)
    problems.push({ level: 'warning', message: `${where} lists no way to send a client secret` })
  // Scopes of its own APIs are often not listed.
  const unlisted = lacks(
    'scopes_supported',
    scopes.filter((one) => STANDARD.includes(one)),
  )
  if (unlisted.length > 0)
    problems.push({ level: 'warning', message: `${where} does not list the scopes ${unlisted.join(', ')}` })
  const findings: Finding[] =
    problems.length > 0 ? problems : [{ level: 'ok', message: `${name} answers, and its metadata fits` }]
  return { metadata: metadata as Metadata, findings }
}

const SECRETS = ['client_secret_basic', 'client_secret_post']
const STANDARD = ['openid', 'profile', 'email', 'offline_access']

/** Exchanges a code that does not exist: who may exchange one is checked before (RFC 6749 §3.2.1, §5.2). */
async function askAboutClient(
  upstream: Upstream,
  metadata: Metadata,
  { env, redirectUri }: Asking,
): Promise<Finding> {
  const { name } = upstream
  const verifier = crypto.randomUUID() + crypto.randomUUID()
  // Required where a provider promises it (RFC 9207 §2.4).
  const sendsIssuer = metadata.authorization_response_iss_parameter_supported === true
  try {
    await upstream.exchange({
      env,
      redirectUri: redirectUri ?? NO_REDIRECT,
      code: CODE,
      codeVerifier: verifier,
      nonce: crypto.randomUUID(),
      parameters: new URLSearchParams(sendsIssuer ? { iss: String(metadata.issuer) } : {}),
    })
  } catch (error) {
    const cause = memberOf(error, 'cause')
    return clientFinding(upstream, String(memberOf(cause, 'code')), textOf(cause ?? error), redirectUri)
  }
  return cannotAsk(name, 'it accepts a code that it never issued')
}

const REFUSED_CLIENT =
  /\b(?:invalid_client|unauthorized_client|incorrect_client_credentials|WWW-Authenticate)\b/

function clientFinding(
  { name, id }: Upstream,
  code: string,
  says: string,
  redirectUri: string | undefined,
): Finding {
  if (code === 'grant_refused') {
    // The order of its checks is not documented.
    const rest =
      id === 'entra' ? 'knows the client id; it may refuse a wrong secret only at a sign-in' : undefined
    return { level: 'ok', message: `${name} ${rest ?? 'accepts the client id and the secret'}` }
  }
  if (/\bredirect_uri_mismatch\b/.test(says))
    return redirectUri === undefined ? cannotAsk(name, NO_HOST) : unknownRedirect(name, redirectUri)
  const isUnknown = id === 'github' && says.includes('status 404')
  if (isUnknown || (code === 'misconfigured' && REFUSED_CLIENT.test(says)))
    return { level: 'error', message: `${name} refuses the client id or the secret: ${withoutAdvice(says)}` }
  return cannotAsk(name, withoutAdvice(says))
}

const NO_HOST =
  'it compares the redirect URL first, and the host is not known: set http.publicUrl, or pass --url'

/** Sends the request of a browser, and does not follow where it leads. */
async function askAboutRedirect(upstream: Upstream, asking: Asking): Promise<Finding> {
  const { name, id } = upstream
  const { env, redirectUri } = asking
  if (redirectUri === undefined) {
    const message = `whether ${name} knows the redirect URL was not asked, since the host is not known: set http.publicUrl, or pass --url`
    return { level: 'ok', message }
  }
  const later = `whether ${name} knows the redirect URL cannot be asked: it says so only to people who sign in`
  if (id === 'github') return { level: 'ok', message: later }
  const [state, nonce, verifier] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  const codeChallenge = await digest(verifier)
  try {
    const url = await upstream.authorizeUrl({ env, redirectUri, state, nonce, codeChallenge })
    const answer = await ask(url, asking)
    const refusal = refusalIn(answer, url)
    if (refusal !== undefined)
      return refusedFinding(name, refusal, redirectUri, isBack(answer, url, redirectUri))
    if (answer.status >= 400) return cannotAsk(name, `it answers ${answer.status} to a sign-in`)
    const message = `${name} accepts the client id and the redirect URL, as far as it says before anybody signs in`
    return { level: 'ok', message: id === 'entra' ? later : message }
  } catch (error) {
    return cannotAsk(name, textOf(memberOf(error, 'cause') ?? error))
  }
}

function refusedFinding(name: string, refusal: string, redirectUri: string, isAccepted: boolean): Finding {
  if (!isAccepted && ABOUT_REDIRECT.test(refusal)) return unknownRedirect(name, redirectUri)
  if (!isAccepted && /client|700016/i.test(refusal))
    return { level: 'error', message: `${name} refuses the client id: ${refusal}` }
  const remedy = isAccepted
    ? 'check the grants and the scopes of the client'
    : `register ${redirectUri}, and check the client id`
  return { level: 'error', message: `${name} refuses to begin a sign-in (${refusal}): ${remedy}` }
}

/** It sends the error to the redirect URL, which it knows then. */
function isBack({ location }: Answer, asked: string, redirectUri: string): boolean {
  if (location === undefined || !URL.canParse(location, asked)) return false
  const { origin, pathname } = new URL(location, asked)
  return origin + pathname === redirectUri
}

const ABOUT_REDIRECT = /redirect|callback|50011/i

function unknownRedirect(name: string, redirectUri: string): Finding {
  return { level: 'error', message: `${name} does not know the redirect URL: register ${redirectUri}` }
}

function cannotAsk(name: string, why: string): Finding {
  return {
    level: 'warning',
    message: `${name} cannot be asked: ${cut(oneLine(why).replace(/\.$/, ''), 240)}`,
  }
}

/** A finding has its own. */
function withoutAdvice(says: string): string {
  return cut(oneLine(says.replace(/ Check client id.*$/s, '')).replace(/\.$/, ''), 240)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

interface Answer {
  readonly status: number
  /** Where it leads. */
  readonly location: string | undefined
  readonly body: string
}

/** The codes of OAuth, and those of Google and Cognito. */
const CODES =
  /\b(?:redirect_uri_mismatch|redirect_mismatch|invalid_redirect_uri|(?:invalid|deleted|disabled|unauthorized)_client|invalid_scope|invalid_request|access_denied|org_internal|admin_policy_enforced)\b/

/** Why a sign-in does not begin; undefined if the answer does not say that it is refused. */
function refusalIn({ status, location, body }: Answer, asked: string): string | undefined {
  if (location !== undefined && URL.canParse(location, asked)) {
    const { searchParams } = new URL(location, asked)
    const error = searchParams.get('error') ?? CODES.exec(fromBinary(searchParams.get('authError')))?.[0]
    return error === undefined ? undefined : cut(oneLine(error), 80)
  }
  // Microsoft’s error page has status 200.
  const coded = /\bAADSTS(?:50011|700016|90002|500113)\b/.exec(body)?.[0]
  if (coded !== undefined) return coded
  if (status !== 400 && status !== 401 && status !== 403 && status !== 404) return undefined
  const code = CODES.exec(body)?.[0]
  if (code !== undefined) return code
  const about = /\b(?:redirect[ _]ur[il]|callback url)\b/i.exec(body)?.[0]
  if (about !== undefined) return about
  // Such as of a firewall.
  return status === 403 ? undefined : `status ${status}`
}

/** Google's `authError`: base64url, in which a code is plain text. */
function fromBinary(text: string | null): string {
  try {
    return atob((text ?? '').replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return ''
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** @throws Error without an answer in time. */
async function ask(url: string, { fetch }: Asking): Promise<Answer> {
  const init = { headers: { accept: 'application/json, text/html', 'user-agent': 'mayfly-mcp' } }
  const limits = { fetch, timeoutMs: REQUEST_MS, maxBytes: MAX_BYTES, isCut: true, isRead: () => true }
  try {
    const { status, headers, text } = await boundedFetch(url, init, limits)
    return { status, location: headers.get('location') ?? undefined, body: text }
  } catch (error) {
    const isLate = isA(error, FetchFault) && error.reason === 'too-late'
    const reason = isLate ? `did not answer within ${REQUEST_MS} ms` : 'cannot be reached'
    throw new Error(`${new URL(url).host} ${reason}`)
  }
}
