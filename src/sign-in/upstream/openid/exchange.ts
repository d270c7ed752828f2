/** From the callback to the person: the code is exchanged, and the ID token verified (OpenID Connect Core 1.0 §3.1). */
import * as oauth from 'oauth4webapi'
import { quoted } from '../errors.ts'
import type { UpstreamFetch } from '../fetch.ts'
import { UpstreamFault, type UpstreamIdentity, type UpstreamReturn } from '../upstream.ts'
import type { Claims, OpenIdDefinition, Provider } from './definition.ts'
import { checkKeyIssuer, IdTokenProblem, inIdToken, tenantIssuer, unverifiedClaims } from './id-token.ts'
import { profileOf, toIdentity } from './identity.ts'
import { authentication, clientOf, requestOptions } from './library-options.ts'
import type { Metadata } from './metadata.ts'
import { type Members, toTokenAnswer, toTokens } from './token-answer.ts'

export async function exchange(
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
  requireReason(response, members)
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
  return toIdentity(definition, claims, profile, toTokens(result))
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

/** A refusal that says nothing, by a proxy or in HTML, is one of this code, too: it counts as such. */
function requireReason({ status, headers }: Response, { error }: Members): void {
  const isSaid = typeof error === 'string' && /^application\/json\b/i.test(headers.get('content-type') ?? '')
  if (status < 400 || status >= 500 || isSaid || headers.has('www-authenticate')) return
  throw new UpstreamFault('answer_invalid', `The token endpoint answered status ${status}.`, status)
}

/** `state` has been compared by the caller. */
function withCode(parameters: URLSearchParams, code: string, hasOtherIssuer: boolean): URLSearchParams {
  const all = new URLSearchParams(parameters)
  all.set('code', code)
  // Compared with the token's.
  if (hasOtherIssuer) all.delete('iss')
  return all
}
