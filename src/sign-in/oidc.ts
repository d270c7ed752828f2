/** Any OpenID provider with discovery: `oidc({ issuer, clientId, clientSecret })`. */
import { isSecureUrl } from '../auth/issuer.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { notAllowed } from './upstream/errors.ts'
import { type Claims, createOpenId } from './upstream/openid.ts'
import {
  checkSettings,
  isPromise,
  readSetting,
  refuseUndefined,
  requireRecord,
  SETTING,
  type Setting,
} from './upstream/settings.ts'
import { type Upstream, UpstreamFault } from './upstream/upstream.ts'

/** Options that all providers have. */
export interface ProviderOptions {
  /** As the provider gave it, or a function that reads it: `(env) => env.CLIENT_ID`. */
  clientId: Setting
  /** The same; a function keeps it out of what is built. */
  clientSecret: Setting
  /** More scopes, for what tools do with the provider's access token. Default: those that sign-in needs. */
  scopes?: readonly string[]
  /**
   * Whether the provider is asked for a refresh token: with it, tools get fresh access tokens, and people who have lost their account lose
   * their connection. Default true.
   */
  offlineAccess?: boolean
  /**
   * Milliseconds for one request to the provider, up to 10 000: all that one step of sign-in needs ends after 12 000. Only the request for
   * new tokens has a minute, since its answer counts, however late it comes. Default 5000.
   */
  timeoutMs?: number
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

/** Options of `oidc`. */
export interface OidcOptions extends ProviderOptions {
  /** The issuer URL, of which `/.well-known/openid-configuration` is the metadata. */
  issuer: Setting
  /** For people, on the pages. Default: the host of the issuer, otherwise `the identity provider`. */
  name?: string
  /** For records. Default `oidc`. With a new one people sign in again, as with a new issuer; who they are stays the same. */
  id?: string
  /** How the client authenticates. Default: what the provider lists, `basic` before `post`. */
  clientAuth?: 'basic' | 'post'
  /** More parameters of the authorization request, such as `{ audience: '…' }`. */
  parameters?: { readonly [name: string]: string }
  /** A check of the verified claims: returns the sentence with which a person is turned away, or undefined. */
  check?: (claims: Claims) => string | undefined
}

/** The names of the options that all providers have. */
export const PROVIDER_OPTIONS: Names<ProviderOptions> = {
  clientId: SETTING,
  clientSecret: SETTING,
  scopes: 'strings',
  offlineAccess: 'boolean',
  timeoutMs: [1, 10_000],
  fetch: 'function',
}

const OIDC_OPTIONS: Names<OidcOptions> = {
  issuer: SETTING,
  name: 'string',
  id: 'string',
  clientAuth: { basic: 1, post: 1 },
  parameters: 'object',
  check: 'function',
  ...PROVIDER_OPTIONS,
}

/** They belong to sign-in: another value would undo a check. */
const OWN_PARAMETERS = [
  ...['client_id', 'response_type', 'response_mode', 'redirect_uri', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]

/**
 * Lets people sign in with an OpenID provider. The ID token must be signed with a key of the issuer (never `none` or `HS*`), for this
 * client and this sign-in, and not expired; an email counts only where the provider has verified it. Requests are limited in time and size
 * and follow no redirects. OpenID Connect Core 1.0 §3.1, RFC 7636, RFC 9207.
 *
 * ```ts
 * oidc({ issuer: 'https://login.example.com', clientId: (env) => env.CLIENT_ID, clientSecret: (env) => env.CLIENT_SECRET })
 * ```
 *
 * @throws TypeError for an unknown, missing or invalid option.
 */
export function oidc(options: OidcOptions): Upstream {
  requireOptions('oidc', options, OIDC_OPTIONS, 'issuer', 'clientId', 'clientSecret')
  const { issuer, clientId, clientSecret, parameters = {}, id = 'oidc', check } = options
  checkSettings('oidc', { issuer, clientId, clientSecret })
  refuseUndefined('oidc', options, 'check')
  if (typeof issuer === 'string' && !isIssuer(issuer)) throw new TypeError(WRONG_ISSUER)
  checkId('oidc', id)
  checkParameters(parameters)
  return createOpenId({
    name: options.name ?? (typeof issuer === 'string' ? new URL(issuer).host : 'the identity provider'),
    id,
    provider: (env) => {
      const found = {
        issuer: readSetting('oidc', 'issuer', issuer, env),
        clientId: readSetting('oidc', 'clientId', clientId, env),
        clientSecret: readSetting('oidc', 'clientSecret', clientSecret, env),
      }
      if (!isIssuer(found.issuer)) throw new UpstreamFault('misconfigured', WRONG_ISSUER)
      return found
    },
    scopes: ['openid', 'profile', 'email', ...(options.scopes ?? [])],
    wantsOffline: options.offlineAccess ?? true,
    clientAuth: options.clientAuth,
    // OpenID Connect Core §11: without `consent`, `offline_access` is ignored.
    parameters: ({ isSwitching }, isOffline) => ({
      ...promptOf(isSwitching && 'login', isOffline && 'consent'),
      ...parameters,
    }),
    ...(check !== undefined && {
      check: (claims: Claims) => {
        const sentence: unknown = check(claims)
        if (isPromise(sentence) || (sentence !== undefined && typeof sentence !== 'string'))
          throw new TypeError(
            '"check" of oidc must not be async: it returns a sentence, or undefined to let a person in.',
          )
        if (sentence !== undefined) throw notAllowed(sentence, 'The option "check" turned the person away.')
      },
    }),
    ...requestLimits(options),
  })
}

const WRONG_ISSUER =
  '"issuer" of oidc must be an https URL without a query; only localhost, 127.0.0.1 and [::1] may have http.'

/** @throws TypeError for an id that records cannot have. */
export function checkId(where: string, id: string): void {
  if (!/^[a-z\d](?:[a-z\d-]{0,30}[a-z\d])?$/.test(id))
    throw new TypeError(`"id" of ${where} must be up to 32 lower-case letters, digits and hyphens.`)
}

export function promptOf(...prompts: readonly (string | false | undefined)[]): { prompt?: string } {
  const named = prompts.filter((one) => typeof one === 'string')
  return named.length === 0 ? {} : { prompt: named.join(' ') }
}

export function requestLimits({ fetch, timeoutMs }: ProviderOptions): {
  fetch: typeof globalThis.fetch | undefined
  timeoutMs: number | undefined
} {
  return { fetch, timeoutMs }
}

function isIssuer(text: string): boolean {
  return isSecureUrl(text) && !/[?#]/.test(text)
}

function checkParameters(parameters: { readonly [name: string]: string }): void {
  requireRecord('"parameters" of oidc', parameters, "a value by name, as in { audience: '…' }")
  const taken = Object.keys(parameters).find((one) => OWN_PARAMETERS.includes(one))
  if (taken !== undefined)
    throw new TypeError(`"parameters" of oidc cannot have "${taken}": sign-in sets it itself.`)
  const other = Object.entries(parameters).find(([, value]) => typeof value !== 'string')
  if (other !== undefined) throw new TypeError(`"parameters.${other[0]}" of oidc must be a string.`)
}
