/**
 * Sign-in with an OpenID provider: discovery, PKCE, the exchange of the code, and the ID token (OpenID Connect Core 1.0 §3.1), by
 * `oauth4webapi`. What is Mayfly's: limits, caches, the algorithms, and whose errors they are.
 */

import * as oauth from 'oauth4webapi'
import { isSecureUrl } from '../../auth/issuer.ts'
import { fromBase64Url } from '../../definition/base64.ts'
import { isA, memberOf } from '../../definition/error-text.ts'
import { isObject } from '../../definition/is-object.ts'
import { setNewest } from '../../definition/set-newest.ts'
import { quoted, upstreamError, withRotated } from './errors.ts'
import { createUpstreamFetch, type UpstreamFetch, type UpstreamFetchOptions } from './fetch.ts'
import {
  type Upstream,
  UpstreamFault,
  type UpstreamIdentity,
  UpstreamRefusedError,
  type UpstreamReturn,
  type UpstreamStart,
  type UpstreamTokens,
  UpstreamUnavailableError,
} from './upstream.ts'

/** The claims of an ID token. */
export interface Claims {
  readonly iss: string
  readonly sub: string
  readonly [claim: string]: unknown
}

/** What a provider is for one environment. */
export interface Provider {
  readonly issuer: string
  /** The issuer of several tenants, with `{tenantid}` for the `tid` of a token: then `issuer` only names the metadata. */
  readonly template?: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface OpenIdDefinition extends UpstreamFetchOptions {
  readonly name: string
  readonly id: string
  /** @throws UpstreamFault for what is not set. */
  provider(env: unknown): Provider
  readonly scopes: readonly string[]
  /** Parameters of the authorization request, after the standard ones. `isOffline`: whether the provider lists `offline_access`. */
  parameters?(start: UpstreamStart, isOffline: boolean): { readonly [name: string]: string }
  /** Asks for `offline_access` where the provider lists it. */
  readonly wantsOffline: boolean
  readonly clientAuth?: 'basic' | 'post' | undefined
  /** Whether its issuer vouches for the email. Default: `email_verified` is true. */
  isEmailVerified?(claims: Claims): boolean
  /** @throws UpstreamRefusedError for a person who may not sign in. */
  check?(claims: Claims, env: unknown): void
}

/** `HS256` could be made with a value that is not secret, such as the public key; `none` with nothing. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const METADATA_PATH = '/.well-known/openid-configuration'
const METADATA_MAX_AGE_MS = 600_000
/** For how long metadata is used if it cannot be fetched again. */
const METADATA_MAX_KEPT_MS = 86_400_000
/** Issuers by environment: each deployment has one. */
const MAX_ISSUERS = 8

/** They are about the token, not about the person. */
const OF_TOKEN = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti', 'azp', 'nonce', 'at_hash', 'c_hash', 's_hash', 'acr'],
  ...['amr', 'auth_time', 'sid', 'aio', 'rh', 'uti', 'ver', 'token_use', 'origin_jti', 'event_id'],
])

/** They go with the email, from the same source. `xms_edov`: Entra's. */
const ABOUT_EMAIL = ['email', 'email_verified', 'xms_edov']

/** Ten years. */
const ANY_TIME_SECONDS = 315_360_000

/** Characters of the tokens of a person: more do not fit into an entry of the store. */
const MAX_TOKEN_CHARACTERS = 24_576

interface Known {
  readonly server: oauth.AuthorizationServer
  readonly fetchedAt: number
  readonly keys: oauth.JWKSCacheInput
}

export function createOpenId(definition: OpenIdDefinition): Upstream {
  const { name, id, scopes } = definition
  const send = createUpstreamFetch(definition)
  const metadata = createMetadata(send)

  /** Every failure becomes one of the two errors. */
  const guarded = async <Value>(
    work: () => Promise<Value>,
    secrets: () => readonly (string | undefined)[],
  ): Promise<Value> => {
    try {
      return await work()
    } catch (error) {
      if (isA(error, UpstreamRefusedError) || isA(error, UpstreamUnavailableError)) throw error
      throw upstreamError(name, faultOf(error, secrets()))
    }
  }

  return {
    name,
    id,
    scopes,
    authorizeUrl: (start) =>
      guarded(
        async () => toAuthorizeUrl(definition, start, await metadata(definition.provider(start.env))),
        () => [],
      ),
    exchange: (given) =>
      guarded(
        () => exchange(definition, given, send, metadata),
        () => [given.code, given.codeVerifier, secretOf(definition, given.env)],
      ),
    async refresh({ env, refreshToken }) {
      let rotated: string | undefined
      const ask = async () => {
        const provider = definition.provider(env)
        // Its own object, as in an exchange.
        const server = { ...(await metadata(provider)).server }
        const client = clientOf(provider)
        const answer = await oauth
          .refreshTokenGrantRequest(
            server,
            client,
            authentication(definition, server, provider),
            refreshToken,
            requestOptions(provider, send),
          )
          .then(toTokenAnswer)
        rotated = textOrNone(answer.members.refresh_token)
        return refreshed(definition, provider, server, answer, env)
      }
      try {
        return await guarded(ask, () => [refreshToken, rotated, secretOf(definition, env)])
      } catch (error) {
        // The one before may not be accepted again.
        throw withRotated(error, rotated)
      }
    },
    metadataUrl: (env) => metadataUrlOf(definition.provider(env).issuer),
    faultIn(env) {
      try {
        definition.provider(env)
        return undefined
      } catch (error) {
        return isA(error, UpstreamFault) ? error.message : undefined
      }
    },
  }
}

type Metadata = (provider: Provider) => Promise<Known>

function createMetadata(send: UpstreamFetch): Metadata {
  const known = new Map<string, Known>()
  return async (provider) => {
    const { issuer } = provider
    const before = known.get(issuer)
    const age = before === undefined ? Number.POSITIVE_INFINITY : Date.now() - before.fetchedAt
    if (before !== undefined && age < METADATA_MAX_AGE_MS) return before
    try {
      const server = await discover(provider, send)
      const found = { server, fetchedAt: Date.now(), keys: before?.keys ?? {} }
      setNewest(known, issuer, found, MAX_ISSUERS)
      return found
    } catch (error) {
      if (before !== undefined && age < METADATA_MAX_KEPT_MS) return before
      throw error
    }
  }
}

async function discover(provider: Provider, send: UpstreamFetch): Promise<oauth.AuthorizationServer> {
  const { issuer, template } = provider
  const response = await oauth
    .discoveryRequest(new URL(issuer), requestOptions(provider, send))
    .catch(async (error: unknown) => {
      throw (await plainHttpFault(issuer, send)) ?? error
    })
  const server = await oauth.processDiscoveryResponse(new URL(template ?? issuer), response)
  for (const member of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
    if (!mayBeUsed(server[member], issuer))
      throw new UpstreamFault('answer_invalid', `The metadata of ${issuer} has no usable "${member}".`)
  // Endpoints that are not usable are not used.
  if (!mayBeUsed(server.userinfo_endpoint, issuer)) Reflect.deleteProperty(server, 'userinfo_endpoint')
  const listed = server.id_token_signing_alg_values_supported
  const algorithms = ALGORITHMS.filter((one) => listed?.includes(one) ?? one === 'RS256')
  return { ...server, id_token_signing_alg_values_supported: algorithms }
}

const metadataUrlOf = (issuer: string): string => issuer.replace(/\/$/, '') + METADATA_PATH

/** An https issuer of a development server that answers http at the same port: asked without secrets, and the answer is not used. */
async function plainHttpFault(issuer: string, send: UpstreamFetch): Promise<UpstreamFault | undefined> {
  const url = new URL(issuer)
  if (url.protocol !== 'https:' || url.port === '') return undefined
  url.protocol = 'http:'
  const answer: unknown = await send(metadataUrlOf(url.href), { headers: { accept: 'application/json' } })
    .then((response) => response.json())
    .catch(() => undefined)
  if (typeof memberOf(answer, 'issuer') !== 'string') return undefined
  const remedy = isSecureUrl(url.href)
    ? `set the issuer to ${url.href.replace(/\/$/, '')}.`
    : 'only localhost, 127.0.0.1 and [::1] may.'
  return new UpstreamFault('misconfigured', `${issuer} answers http, not https: ${remedy}`)
}

/** https; plain http on this machine only for an issuer that is there, too. */
function mayBeUsed(url: unknown, issuer: string): boolean {
  return isSecureUrl(url) && (issuer.startsWith('http:') || url.startsWith('https:'))
}

interface RequestOptions {
  readonly [oauth.customFetch]: (url: string, init: object) => Promise<Response>
  readonly [oauth.allowInsecureRequests]: boolean
}

function requestOptions({ issuer }: Provider, send: UpstreamFetch): RequestOptions {
  return {
    [oauth.customFetch]: (url, init) => send(url, init as RequestInit),
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  }
}

function clientOf({ clientId }: Provider): oauth.Client {
  return { client_id: clientId, [oauth.clockTolerance]: 30 }
}

function authentication(
  { clientAuth }: OpenIdDefinition,
  server: oauth.AuthorizationServer,
  { clientSecret }: Provider,
): oauth.ClientAuth {
  // RFC 8414 §2: without the list it is `client_secret_basic`.
  const listed = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const chosen = clientAuth ?? (listed.includes('client_secret_basic') ? 'basic' : 'post')
  return chosen === 'basic' ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret)
}

function toAuthorizeUrl(definition: OpenIdDefinition, start: UpstreamStart, { server }: Known): string {
  const { scopes, wantsOffline, parameters } = definition
  const { clientId } = definition.provider(start.env)
  const url = new URL(server.authorization_endpoint!)
  const isOffline = wantsOffline && server.scopes_supported?.includes('offline_access') === true
  const asked = isOffline ? [...scopes, 'offline_access'] : scopes
  const all = {
    ...parameters?.(start, isOffline),
    client_id: clientId,
    response_type: 'code',
    redirect_uri: start.redirectUri,
    scope: [...new Set(asked)].join(' '),
    state: start.state,
    nonce: start.nonce,
    code_challenge: start.codeChallenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
  return url.href
}

async function exchange(
  definition: OpenIdDefinition,
  { env, redirectUri, code, codeVerifier, nonce, parameters }: UpstreamReturn,
  send: UpstreamFetch,
  metadata: Metadata,
): Promise<UpstreamIdentity> {
  const provider = definition.provider(env)
  const known = await metadata(provider)
  const client = clientOf(provider)
  const options = { ...requestOptions(provider, send), [oauth.jwksCache]: known.keys }
  // Each exchange has its own object: the issuer of several tenants depends on the person.
  const server: oauth.AuthorizationServer = { ...known.server }
  checkIssuers(parameters, server, provider)
  const answer = oauth.validateAuthResponse(
    server,
    client,
    withCode(parameters, code, provider.template !== undefined),
    oauth.skipStateCheck,
  )
  const { response, members } = await oauth
    .authorizationCodeGrantRequest(
      server,
      client,
      authentication(definition, server, provider),
      answer,
      redirectUri,
      codeVerifier,
      options,
    )
    .then(toTokenAnswer)
  if (provider.template !== undefined)
    Object.assign(server, { issuer: tenantIssuer(provider.template, unverifiedClaims(members)) })
  const result = await inIdToken(() =>
    oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    }),
  )
  await inIdToken(() => oauth.validateApplicationLevelSignature(server, response, options))
  const claims = { ...oauth.getValidatedIdTokenClaims(result)! } as Claims
  const iss = parameters.get('iss')
  if (iss !== null && iss !== claims.iss)
    throw new UpstreamFault('issuer_mismatch', `The callback names ${quoted(iss, [])}, not ${claims.iss}.`)
  // OpenID Connect Core §2. All without one would be one person.
  if (claims.sub === '') throw new IdTokenProblem('its "sub" is empty')
  checkKeyIssuer(provider, known, result.id_token!, claims)
  definition.check?.(claims, env)
  const profile = await profileOf(server, client, result.access_token, claims, options)
  return toIdentity(definition, claims, profile, thatFit(toTokens(result)))
}

/**
 * An ID token in the answer says whose the tokens are, and what this person is now (OpenID Connect Core §12.2). Its signature is not
 * checked: it comes from the token endpoint itself (§3.1.3.7), and tokens that were refreshed would be lost if the keys could not be read. Nor
 * is its time: some providers send the one of the sign-in again.
 */
async function refreshed(
  definition: OpenIdDefinition,
  provider: Provider,
  server: oauth.AuthorizationServer,
  { response, members }: TokenAnswer,
  env: unknown,
): Promise<UpstreamTokens & Partial<Pick<UpstreamIdentity, 'issuer' | 'subject'>>> {
  const client = { ...clientOf(provider), [oauth.clockTolerance]: ANY_TIME_SECONDS }
  const read = (one: Response) => oauth.processRefreshTokenResponse(server, client, one)
  if (members.id_token === undefined) return toTokens(await read(response))
  // Apart, so that what is wrong with the other members is not taken for a fault of the ID token, which ends a connection.
  const tokens = toTokens(await read(withMembers(response, without(members, ['id_token']))))
  const unverified = unverifiedClaims(members)
  if (provider.template !== undefined)
    Object.assign(server, { issuer: tenantIssuer(provider.template, unverified) })
  // One that cannot be read says nothing about the person.
  const checked = await (unverified.sub === undefined ? read(response) : inIdToken(() => read(response)))
  const claims = oauth.getValidatedIdTokenClaims(checked)!
  definition.check?.({ ...claims } as Claims, env)
  return { ...tokens, issuer: claims.iss, subject: claims.sub }
}

/** Mix-up (RFC 9207 §2.4): the code of another provider must not be sent to this one. */
function checkIssuers(
  parameters: URLSearchParams,
  { issuer, authorization_response_iss_parameter_supported: isNeeded }: oauth.AuthorizationServer,
  { template }: Provider,
): void {
  const named = parameters.getAll('iss')
  if (named.length === 0 && isNeeded === true)
    throw new UpstreamFault('issuer_mismatch', 'The callback has no "iss", which this provider always sends.')
  // With several tenants, it is compared with the token's.
  if (named.length > 1 || (named.length === 1 && template === undefined && named[0] !== issuer))
    throw new UpstreamFault('issuer_mismatch', `The callback has another "iss" than ${issuer}.`)
}

/** `state` has been compared by the caller. */
function withCode(parameters: URLSearchParams, code: string, hasOtherIssuer: boolean): URLSearchParams {
  const all = new URLSearchParams(parameters)
  all.set('code', code)
  // Compared with the token's.
  if (hasOtherIssuer) all.delete('iss')
  return all
}

class IdTokenProblem extends Error {}

/** Errors of the library have the same codes for all that it checks. */
async function inIdToken<Value>(check: () => Promise<Value>): Promise<Value> {
  try {
    return await check()
  } catch (error) {
    const isAboutAnswer =
      isA(error, UpstreamFault) ||
      isA(error, oauth.ResponseBodyError) ||
      isA(error, oauth.WWWAuthenticateChallengeError) ||
      memberOf(error, 'code') === oauth.RESPONSE_IS_NOT_CONFORM ||
      memberOf(error, 'code') === oauth.RESPONSE_IS_NOT_JSON
    if (isAboutAnswer) throw error
    throw new IdTokenProblem(String(memberOf(error, 'message')))
  }
}

const TENANT_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** Nobody's issuer without a tenant. */
function tenantIssuer(template: string, { tid }: { readonly [claim: string]: unknown }): string {
  return template.replace('{tenantid}', typeof tid === 'string' && TENANT_ID.test(tid) ? tid : 'none')
}

/** Of the ID token in an answer, to know which issuer it must have. It is verified afterwards. */
function unverifiedClaims({ id_token: token }: Members): Members {
  try {
    return decodePart(token, 1)
  } catch {
    return {}
  }
}

interface Members {
  readonly [name: string]: unknown
}

/** The answer of a token endpoint. */
interface TokenAnswer {
  /** It can still be read. */
  readonly response: Response
  /** Of its JSON object; else none. */
  readonly members: Members
}

/** Members that nobody needs, and that some providers send as null: RFC 6749 §5.1 has no null. */
const OPTIONAL = ['expires_in', 'refresh_token', 'scope', 'id_token']

/** Without optional members that have no value: new tokens would be lost for them. */
async function toTokenAnswer(response: Response): Promise<TokenAnswer> {
  const value: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  const all = isObject(value) ? value : {}
  const empty = OPTIONAL.filter((name) => all[name] === null || all[name] === '')
  if (empty.length === 0) return { response, members: all }
  const members = without(all, empty)
  return { response: withMembers(response, members), members }
}

function withMembers({ status, headers }: Response, members: Members): Response {
  return new Response(JSON.stringify(members), { status, headers })
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function decodePart(token: unknown, part: 0 | 1): { readonly [name: string]: unknown } {
  const bytes = fromBase64Url(String(token).split('.')[part] ?? '')
  return JSON.parse(new TextDecoder().decode(bytes)) as { readonly [name: string]: unknown }
}

/** Keys of several tenants say whose tokens they may sign. */
function checkKeyIssuer({ template }: Provider, { keys }: Known, idToken: string, claims: Claims): void {
  if (template === undefined) return
  const { kid } = decodePart(idToken, 0)
  const key = keys.jwks?.keys.find((one) => one.kid === kid) as { issuer?: unknown } | undefined
  if (kid === undefined || key === undefined) throw new IdTokenProblem('it names none of the keys')
  if (typeof key.issuer !== 'string' || tenantIssuer(key.issuer, claims) === claims.iss) return
  throw new IdTokenProblem('its key is for another tenant')
}

/** Providers may leave name and email to the UserInfo endpoint (OpenID Connect Core §5.3, §5.4). */
async function profileOf(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  accessToken: string,
  claims: Claims,
  options: oauth.UserInfoRequestOptions,
): Promise<{ readonly [claim: string]: unknown }> {
  if (server.userinfo_endpoint === undefined) return {}
  if (claims.name !== undefined && claims.email !== undefined) return {}
  const response = await oauth.userInfoRequest(server, client, accessToken, options).catch((error) => {
    if (isA(error, UpstreamFault) && error.code === 'unreachable') return undefined
    throw error
  })
  // Such as for an access token that is for another resource. Nobody needs a name or an email to sign in.
  if (response?.ok !== true) return {}
  // Compares `sub`: the token could be another person's.
  return await oauth.processUserInfoResponse(server, client, claims.sub, response)
}

function toIdentity(
  { isEmailVerified = ({ email_verified }) => email_verified === true }: OpenIdDefinition,
  claims: Claims,
  profile: { readonly [claim: string]: unknown },
  tokens: UpstreamTokens,
): UpstreamIdentity {
  // What the token says counts; the profile is not signed. One of them vouches for its own email, and not for the other's.
  const isOfProfile = claims.email === undefined
  const all: Claims = {
    ...without(profile, isOfProfile ? [] : ABOUT_EMAIL),
    ...(without(claims, isOfProfile ? ABOUT_EMAIL : []) as Claims),
  }
  const isVerified = isEmailVerified(all)
  const email = isVerified ? textOfClaim(all.email) : undefined
  const name = textOfClaim(all.name) ?? textOfClaim(all.preferred_username)
  return {
    issuer: claims.iss,
    subject: claims.sub,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    claims: forTools(all, isVerified),
    tokens,
  }
}

function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

function textOfClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim.slice(0, 320) : undefined
}

/** Claims about the person; an email that nobody verified is not one of them. */
function forTools(claims: Claims, isVerified: boolean): { readonly [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(claims).filter(([name]) => !OF_TOKEN.has(name) && (name !== 'email' || isVerified)),
  )
}

function toTokens({
  access_token,
  refresh_token,
  expires_in,
  scope,
  token_type,
}: oauth.TokenEndpointResponse): UpstreamTokens {
  if (token_type !== 'bearer')
    throw new UpstreamFault(
      'answer_invalid',
      `The access token is of type ${quoted(token_type, [])}, not Bearer.`,
    )
  return {
    accessToken: access_token,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(expires_in !== undefined && { expiresAt: Date.now() + expires_in * 1000 }),
    ...(scope !== undefined && { scopes: scope.split(' ') }),
  }
}

/** Of a sign-in. At a refresh, a long access token is left out of the store. */
function thatFit(tokens: UpstreamTokens): UpstreamTokens {
  if (tokens.accessToken.length + (tokens.refreshToken ?? '').length <= MAX_TOKEN_CHARACTERS) return tokens
  throw new UpstreamFault(
    'answer_invalid',
    `The tokens have more than ${MAX_TOKEN_CHARACTERS} characters, which cannot be stored. Let the provider put less into access tokens.`,
  )
}

function secretOf(definition: OpenIdDefinition, env: unknown): string | undefined {
  try {
    return definition.provider(env).clientSecret
  } catch {
    return undefined
  }
}

/** The cause of an error of the library, without what it holds: answers with tokens, claims and parameters. */
function faultOf(error: unknown, secrets: readonly (string | undefined)[]): UpstreamFault {
  if (isA(error, UpstreamFault)) return error
  if (isA(error, IdTokenProblem))
    return new UpstreamFault('id_token_invalid', `The ID token is not accepted: ${error.message}.`)
  if (isA(error, oauth.AuthorizationResponseError)) {
    const says = said(error.error, error.error_description, secrets)
    const isDenied = /^(?:access_denied|login_required|consent_required|interaction_required)$/
    if (isDenied.test(error.error)) return new UpstreamFault('denied', `The provider answered ${says}.`)
    const code = /^(?:server_error|temporarily_unavailable)$/.test(error.error)
      ? 'answer_invalid'
      : 'misconfigured'
    return new UpstreamFault(code, `The provider refused the sign-in: ${says}.`)
  }
  if (isA(error, oauth.ResponseBodyError)) {
    const says = said(error.error, error.error_description, secrets)
    if (error.error === 'invalid_grant')
      return new UpstreamFault('grant_refused', `The provider refused the code or token: ${says}.`)
    return new UpstreamFault(
      'misconfigured',
      `The provider refused this client: ${says}. Check client id, secret and redirect URL.`,
    )
  }
  if (isA(error, oauth.WWWAuthenticateChallengeError)) {
    const reason = 'The provider refused this client or its token with a challenge (WWW-Authenticate).'
    return new UpstreamFault('misconfigured', `${reason} Check client id and secret.`)
  }
  const message = String(memberOf(error, 'message'))
  return new UpstreamFault(
    'answer_invalid',
    `The provider’s answer cannot be used: ${quoted(message, secrets)}.`,
  )
}

function said(error: unknown, description: unknown, secrets: readonly (string | undefined)[]): string {
  const details = quoted(description, secrets)
  return `${quoted(error, secrets)}${details && `, “${details}”`}`
}
