/** Who somebody is, by the claims of the ID token and of the UserInfo endpoint. */
import * as oauth from 'oauth4webapi'
import { isA } from '../../../definition/error-text.ts'
import { UpstreamFault, type UpstreamIdentity, type UpstreamTokens } from '../upstream.ts'
import type { Claims, OpenIdDefinition } from './definition.ts'
import { without } from './token-answer.ts'

/** They are about the token, not about the person. */
const OF_TOKEN = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti', 'azp', 'nonce', 'at_hash', 'c_hash', 's_hash', 'acr'],
  ...['amr', 'auth_time', 'sid', 'aio', 'rh', 'uti', 'ver', 'token_use', 'origin_jti', 'event_id'],
])

/** They go with the email, from the same source. `xms_edov`: Entra's. */
const ABOUT_EMAIL = ['email', 'email_verified', 'xms_edov']

/** Providers may leave name and email to the UserInfo endpoint (OpenID Connect Core §5.3, §5.4). */
export async function profileOf(
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

export function toIdentity(
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

function textOfClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' ? claim.slice(0, 320) : undefined
}

/** Claims about the person; an email that nobody verified is not one of them. */
function forTools(claims: Claims, isVerified: boolean): { readonly [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(claims).filter(([name]) => !OF_TOKEN.has(name) && (name !== 'email' || isVerified)),
  )
}
