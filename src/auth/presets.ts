/**
 * `jwt` configured for identity providers. `audience` is the provider's name for this server: register it there first.
 */
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { Auth } from './auth.ts'
import { isSecureUrl } from './issuer.ts'
import { JWT_OPTIONS, type JwtOptions, jwt } from './jwt.ts'

/** The options that every preset has besides its own. */
export type PresetOptions = Omit<JwtOptions, 'issuer' | 'jwksUri' | 'audienceClaim' | 'check' | 'header'>

const {
  issuer: _,
  jwksUri: _uri,
  audienceClaim: _claim,
  check: _check,
  header: _header,
  ...rest
} = JWT_OPTIONS
const OPTIONS: Names<PresetOptions> = rest

/** Auth0, with either profile of access tokens: `domain` is `tenant.eu.auth0.com`, `audience` the API's identifier. Scopes are those of `scope`. */
export function auth0(given: PresetOptions & { domain: string }): Auth {
  const { domain, ...options } = given ?? NONE
  checkHost('auth0', { domain }, options)
  return plainJwt({
    ...options,
    issuer: `https://${domain}/`,
    jwksUri: `https://${domain}/.well-known/jwks.json`,
  })
}

/** WorkOS AuthKit: `domain` is `subdomain.authkit.app`. */
export function workos(given: PresetOptions & { domain: string }): Auth {
  const { domain, ...options } = given ?? NONE
  checkHost('workos', { domain }, options)
  return plainJwt({ ...options, issuer: `https://${domain}`, jwksUri: `https://${domain}/oauth2/jwks` })
}

/** Clerk: `domain` is the Frontend API, `clerk.shop.example`. Its tokens name the client in `azp` or `aud`. */
export function clerk(given: PresetOptions & { domain: string }): Auth {
  const { domain, ...options } = given ?? NONE
  checkHost('clerk', { domain }, options)
  return plainJwt({
    ...options,
    issuer: `https://${domain}`,
    jwksUri: `https://${domain}/.well-known/jwks.json`,
  })
}

/** Stytch Connected Apps: `domain` is the project's, `audience` the project id. */
export function stytch(given: PresetOptions & { domain: string }): Auth {
  const { domain, ...options } = given ?? NONE
  checkHost('stytch', { domain }, options)
  return plainJwt({
    ...options,
    issuer: `https://${domain}`,
    jwksUri: `https://${domain}/.well-known/jwks.json`,
  })
}

/** Keycloak: `url` is the server's, `https://login.shop.example`. An audience mapper puts `audience` into tokens. */
export function keycloak(given: PresetOptions & { url: string; realm: string }): Auth {
  const { url, realm, ...options } = given ?? NONE
  checkTexts('keycloak', { url, realm }, options, isSecureUrl(url) && realm !== '')
  const issuer = `${url.replace(/\/$/, '')}/realms/${encodeURIComponent(realm)}`
  return plainJwt({
    ...options,
    issuer,
    jwksUri: `${issuer}/protocol/openid-connect/certs`,
    // ID, refresh and logout tokens differ in this claim alone.
    check: ({ typ }) =>
      typ === undefined ? 'The token is not an access token: it has no "typ" of Keycloak.' : undefined,
  })
}

/** Supabase Auth: `projectUrl` is `https://ref.supabase.co`; `audience` is `authenticated` unless it was changed. */
export function supabaseAuth(
  given: Omit<PresetOptions, 'audience'> & { projectUrl: string; audience?: JwtOptions['audience'] },
): Auth {
  const { projectUrl, audience = 'authenticated', ...options } = given ?? NONE
  checkTexts('supabaseAuth', { projectUrl }, options, isSecureUrl(projectUrl))
  const issuer = `${projectUrl.replace(/\/$/, '')}/auth/v1`
  return plainJwt({ ...options, audience, issuer, jwksUri: `${issuer}/.well-known/jwks.json` })
}

/** Cloudflare Access: `team` is `shop` of `shop.cloudflareaccess.com`, `audience` the application's AUD tag. */
export function cloudflareAccess(given: PresetOptions & { team: string }): Auth {
  const { team, ...options } = given ?? NONE
  checkHost('cloudflareAccess', { team }, options)
  const issuer = `https://${team}.cloudflareaccess.com`
  // Cloudflare Access is a proxy: it signs the user in and sends the token in its own header.
  return plainJwt({
    ...options,
    issuer,
    jwksUri: `${issuer}/cdn-cgi/access/certs`,
    header: 'cf-access-jwt-assertion',
    check: ({ type = 'app' }) => (type === 'app' ? undefined : 'The token is not for an application.'),
  })
}

/** Amazon Cognito: access tokens name the app client in `client_id`, which is the `audience` here. */
export function cognito(given: PresetOptions & { region: string; userPoolId: string }): Auth {
  const { region, userPoolId, ...options } = given ?? NONE
  checkHost('cognito', { region, userPoolId }, options)
  const issuer = `https://cognito-idp.${region}.amazonaws.com/${userPoolId}`
  return plainJwt({
    ...options,
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    audienceClaim: 'client_id',
    check: ({ token_use: use }) => (use === 'access' ? undefined : 'The token is not an access token.'),
  })
}

/** Microsoft Entra ID, tokens of version 2.0: `audience` is the application's id, or `api://…` URI. */
export function entra(given: PresetOptions & { tenantId: string }): Auth {
  const { tenantId, ...options } = given ?? NONE
  checkHost('entra', { tenantId }, options)
  const base = `https://login.microsoftonline.com/${encodeURIComponent(tenantId)}`
  return plainJwt({
    ...options,
    issuer: `${base}/v2.0`,
    jwksUri: `${base}/discovery/v2.0/keys`,
    // An ID token of the application itself has the same audience, and names no client.
    check: ({ azp, appid }) =>
      (azp ?? appid) ? undefined : 'The token is not an access token: it names no client.',
  })
}

/** These providers issue access tokens with `typ: JWT` or without one, some only by default. */
function plainJwt(options: JwtOptions): Auth {
  return jwt({ ...options, tokenTypes: ['JWT', ...(options.tokenTypes ?? [])] })
}

/** Refuses characters that would change the host of a URL. */
const PLAIN = /^[\w.-]+(?::\d+)?$/

/** What is missing is named one by one. */
const NONE = {} as never

type Own = { readonly [option: string]: unknown }

function checkHost(preset: string, own: Own, rest: object): void {
  const isPlain = Object.values(own).every((value) => typeof value === 'string' && PLAIN.test(value))
  checkTexts(preset, own, rest, isPlain, ', without https:// and without a path')
}

/** @throws TypeError for an unknown or missing option: an unset variable must not become the issuer `https://undefined`. */
function checkTexts(preset: string, own: Own, rest: object, isRight: boolean, remark = ''): void {
  refuseUnknown(preset, rest, { ...own, ...OPTIONS })
  if (isRight && Object.values(own).every((value) => typeof value === 'string')) return
  const names = Object.keys(own).map((option) => `"${option}"`)
  throw new TypeError(`${preset} needs ${names.join(' and ')}, as given by the provider${remark}.`)
}
