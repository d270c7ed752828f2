/** Sign-in with GitHub, which is not an OpenID provider: `github({ clientId, clientSecret, organization? })`. */
import { isA, memberOf } from '../definition/error-text.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { PROVIDER_OPTIONS, type ProviderOptions, promptOf } from './oidc.ts'
import { notAllowed, quoted, upstreamError } from './upstream/errors.ts'
import { createUpstreamFetch, REFRESH_TIMEOUT_MS, type UpstreamFetch } from './upstream/fetch.ts'
import { checkSettings, readSetting, refuseUndefined, SETTING, type Setting } from './upstream/settings.ts'
import {
  type Upstream,
  UpstreamFault,
  type UpstreamIdentity,
  type UpstreamReturn,
  type UpstreamTokens,
} from './upstream/upstream.ts'

export type { ProviderOptions } from './oidc.ts'
export type { Setting } from './upstream/settings.ts'

/** Options of `github`. */
export interface GithubOptions extends Omit<ProviderOptions, 'offlineAccess'> {
  /** The organization of which a person must be a member, such as `example`. Default: every GitHub account may sign in. */
  organization?: Setting
}

const { offlineAccess: _, ...shared } = PROVIDER_OPTIONS
const GITHUB_OPTIONS: Names<GithubOptions> = { organization: SETTING, ...shared }

const AUTHORIZE = 'https://github.com/login/oauth/authorize'
const TOKEN = 'https://github.com/login/oauth/access_token'
const API = 'https://api.github.com'
const ISSUER = 'https://github.com'
/** A callback that names an issuer must name one of these (RFC 9207). */
const ISSUERS = [ISSUER, `${ISSUER}/login/oauth`]
const WRONG_ORGANIZATION =
  '"organization" of github must be the name in its URL: letters, digits and hyphens.'
const LOGIN = /^[a-z\d](?:[a-z\d-]{0,37}[a-z\d])?$/i

/**
 * Lets people sign in with GitHub. Who somebody is, is their numeric id: logins change hands. The email is the primary one, if it is
 * verified. Only a GitHub App with expiring tokens issues refresh tokens. Membership in `organization` counts once it is accepted, and at sign-in
 * alone; an organization that restricts apps must allow this one.
 *
 * ```ts
 * github({ clientId: (env) => env.GITHUB_ID, clientSecret: (env) => env.GITHUB_SECRET, organization: 'example' })
 * ```
 *
 * @throws TypeError for an unknown, missing or invalid option.
 */
export function github(options: GithubOptions): Upstream {
  requireOptions('github', options, GITHUB_OPTIONS, 'clientId', 'clientSecret')
  const { clientId, clientSecret, organization } = options
  checkSettings('github', { clientId, clientSecret, organization })
  refuseUndefined('github', options, 'organization')
  if (typeof organization === 'string' && !LOGIN.test(organization)) throw new TypeError(WRONG_ORGANIZATION)
  const send = createUpstreamFetch(options)
  const sendPatiently = createUpstreamFetch({ ...options, timeoutMs: REFRESH_TIMEOUT_MS })
  const scopes = [
    ...['read:user', 'user:email'],
    ...(organization === undefined ? [] : ['read:org']),
    ...(options.scopes ?? []),
  ]
  const settings = (env: unknown): Settings => {
    const found = organization && readSetting('github', 'organization', organization, env)
    if (found !== undefined && !LOGIN.test(found))
      throw new UpstreamFault('misconfigured', WRONG_ORGANIZATION)
    return {
      client_id: readSetting('github', 'clientId', clientId, env),
      client_secret: readSetting('github', 'clientSecret', clientSecret, env),
      organization: found,
    }
  }
  return {
    name: 'GitHub',
    id: 'github',
    scopes,
    authorizeUrl: ({ env, redirectUri, state, codeChallenge, isSwitching }) =>
      guarded(async () => {
        const url = new URL(AUTHORIZE)
        const { client_id } = settings(env)
        for (const [name, value] of Object.entries({
          ...promptOf(isSwitching && 'select_account'),
          client_id,
          redirect_uri: redirectUri,
          scope: [...new Set(scopes)].join(' '),
          state,
          code_challenge: codeChallenge,
          code_challenge_method: 'S256',
        }))
          url.searchParams.set(name, value)
        return url.href
      }),
    exchange: (given) => guarded(() => exchange(given, settings(given.env), send)),
    refresh: ({ env, refreshToken }) =>
      guarded(() => {
        const { client_id, client_secret } = settings(env)
        const form = { client_id, client_secret, grant_type: 'refresh_token', refresh_token: refreshToken }
        return askForTokens(form, sendPatiently)
      }),
    faultIn(env) {
      try {
        settings(env)
        return undefined
      } catch (error) {
        return isA(error, UpstreamFault) ? error.message : undefined
      }
    },
  }
}

interface Settings {
  readonly client_id: string
  readonly client_secret: string
  readonly organization: string | undefined
}

async function guarded<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw isA(error, UpstreamFault) ? upstreamError('GitHub', error) : error
  }
}

async function exchange(
  { redirectUri, code, codeVerifier, parameters }: UpstreamReturn,
  { organization, ...client }: Settings,
  send: UpstreamFetch,
): Promise<UpstreamIdentity> {
  checkCallback(parameters)
  const tokens = await askForTokens(
    { ...client, code, redirect_uri: redirectUri, code_verifier: codeVerifier },
    send,
  )
  const ask = (path: string): Promise<Response> => askApi(path, tokens.accessToken, send)
  const user = await jsonOf(await ask('/user'), 'user')
  const { id, login, name } = user as { readonly [member: string]: unknown }
  if (!Number.isSafeInteger(id) || typeof login !== 'string')
    throw new UpstreamFault('answer_invalid', 'GitHub’s answer about the user has no id or login.')
  if (organization !== undefined) await checkMembership(organization, ask)
  const email = primaryEmail(await jsonOf(await ask('/user/emails?per_page=100'), 'emails'))
  return {
    issuer: ISSUER,
    subject: String(id),
    name: typeof name === 'string' && name !== '' ? name.slice(0, 320) : login,
    ...(email !== undefined && { email }),
    claims: {
      login,
      ...(typeof name === 'string' && { name: name.slice(0, 320) }),
      ...(email !== undefined && { email, email_verified: true }),
      ...(organization !== undefined && { organization }),
    },
    tokens,
  }
}

function checkCallback(parameters: URLSearchParams): void {
  const issuers = parameters.getAll('iss')
  if (issuers.length > 1 || issuers.some((one) => !ISSUERS.includes(one)))
    throw new UpstreamFault('issuer_mismatch', 'The callback names another issuer than GitHub.')
  const error = parameters.get('error')
  if (error === null) return
  const says = `GitHub answered ${quoted(error, [])}.`
  throw new UpstreamFault(error === 'access_denied' ? 'denied' : 'misconfigured', says)
}

/** GitHub's errors come with status 200. */
async function askForTokens(
  form: { readonly [name: string]: string },
  send: UpstreamFetch,
): Promise<UpstreamTokens> {
  const response = await send(TOKEN, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
  })
  const answer = await jsonOf(response, 'tokens')
  const error = memberOf(answer, 'error')
  if (typeof error === 'string') {
    const isGrant = ['bad_verification_code', 'bad_refresh_token', 'invalid_grant'].includes(error)
    const said = `GitHub refused ${isGrant ? 'the code or token' : 'this app'}: ${quoted(error, Object.values(form))}.`
    throw new UpstreamFault(isGrant ? 'grant_refused' : 'misconfigured', said)
  }
  const { access_token, token_type, refresh_token, expires_in, scope } = answer as {
    readonly [member: string]: unknown
  }
  if (
    typeof access_token !== 'string' ||
    access_token === '' ||
    String(token_type).toLowerCase() !== 'bearer'
  )
    throw new UpstreamFault('answer_invalid', 'GitHub’s answer has no access token.')
  return {
    accessToken: access_token,
    ...(typeof refresh_token === 'string' && refresh_token !== '' && { refreshToken: refresh_token }),
    ...(typeof expires_in === 'number' && { expiresAt: Date.now() + expires_in * 1000 }),
    ...(typeof scope === 'string' && scope !== '' && { scopes: scope.split(/[ ,]+/) }),
  }
}

function askApi(path: string, accessToken: string, send: UpstreamFetch): Promise<Response> {
  return send(`${API}${path}`, {
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${accessToken}`,
      // GitHub refuses requests without one.
      'user-agent': 'mayfly-mcp',
      'x-github-api-version': '2022-11-28',
    },
  })
}

async function jsonOf(response: Response, what: string): Promise<object> {
  if (response.status !== 200)
    throw new UpstreamFault(
      'answer_invalid',
      `GitHub answered status ${response.status} for ${what}.`,
      what === 'tokens' ? response.status : undefined,
    )
  const value: unknown = await response.json().catch(() => undefined)
  if (typeof value === 'object' && value !== null) return value
  throw new UpstreamFault('answer_invalid', `GitHub’s answer for ${what} is not JSON.`)
}

async function checkMembership(
  organization: string,
  ask: (path: string) => Promise<Response>,
): Promise<void> {
  const response = await ask(`/user/memberships/orgs/${organization}`)
  const sentence = `Only members of ${organization} on GitHub may sign in here.`
  if (response.status === 404) throw notAllowed(sentence, 'The person is not a member of the organization.')
  if (response.status === 403) {
    const reason = `${organization} does not let this app see its members: approve it in the organization’s settings.`
    throw notAllowed(sentence, reason)
  }
  const state = memberOf(await jsonOf(response, 'membership'), 'state')
  if (state !== 'active') throw notAllowed(sentence, 'The membership has not been accepted yet.')
}

function primaryEmail(emails: unknown): string | undefined {
  const listed = Array.isArray(emails) ? emails : []
  const found: unknown = listed.find(
    (one: unknown) => memberOf(one, 'primary') === true && memberOf(one, 'verified') === true,
  )
  const email = memberOf(found, 'email')
  return typeof email === 'string' && email !== '' ? email : undefined
}
