/** New tokens for a refresh token, and whose they are (OpenID Connect Core 1.0 §12). */
import * as oauth from 'oauth4webapi'
import type { UpstreamFetch } from '../fetch.ts'
import type { UpstreamIdentity, UpstreamTokens } from '../upstream.ts'
import type { Claims, OpenIdDefinition, Provider } from './definition.ts'
import { inIdToken, tenantIssuer, unverifiedClaims } from './id-token.ts'
import { authentication, clientOf, requestOptions } from './library-options.ts'
import type { Metadata } from './metadata.ts'
import {
  type TokenAnswer,
  textOrNone,
  toTokenAnswer,
  toTokens,
  withMembers,
  without,
} from './token-answer.ts'

/** Ten years. */
const ANY_TIME_SECONDS = 315_360_000

export type Refreshed = UpstreamTokens & Partial<Pick<UpstreamIdentity, 'issuer' | 'subject'>>

/** `onRotated` is told the new refresh token as soon as it is known, also if the rest of the answer cannot be used. */
export async function refresh(
  definition: OpenIdDefinition,
  { env, refreshToken }: { readonly env: unknown; readonly refreshToken: string },
  sendPatiently: UpstreamFetch,
  metadata: Metadata,
  onRotated: (refreshToken: string | undefined) => void,
): Promise<Refreshed> {
  const provider = definition.provider(env)
  // Its own object, as in an exchange.
  const server = { ...(await metadata(provider)).server }
  const answer = await oauth
    .refreshTokenGrantRequest(
      server,
      clientOf(provider),
      authentication(definition, server, provider),
      refreshToken,
      requestOptions(provider, sendPatiently),
    )
    .then(toTokenAnswer)
  onRotated(textOrNone(answer.members.refresh_token))
  return refreshed(definition, provider, server, answer, env)
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
): Promise<Refreshed> {
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
