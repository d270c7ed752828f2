/** Whose ID token it is, and what is wrong with one (OpenID Connect Core 1.0 §3.1.3.7). */
import * as oauth from 'oauth4webapi'
import { fromBase64Url } from '../../../definition/base64.ts'
import { isA, memberOf } from '../../../definition/error-text.ts'
import { UpstreamFault } from '../upstream.ts'
import type { Claims, Provider } from './definition.ts'
import type { Known } from './metadata.ts'
import type { Members } from './token-answer.ts'

export class IdTokenProblem extends Error {}

/** Errors of the library have the same codes for all that it checks. */
export async function inIdToken<Value>(check: () => Promise<Value>): Promise<Value> {
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
export function tenantIssuer(template: string, { tid }: { readonly [claim: string]: unknown }): string {
  return template.replace('{tenantid}', typeof tid === 'string' && TENANT_ID.test(tid) ? tid : 'none')
}

/** Of the ID token in an answer, to know which issuer it must have. It is verified afterwards. */
export function unverifiedClaims({ id_token: token }: Members): Members {
  try {
    return decodePart(token, 1)
  } catch {
    return {}
  }
}

function decodePart(token: unknown, part: 0 | 1): { readonly [name: string]: unknown } {
  const bytes = fromBase64Url(String(token).split('.')[part] ?? '')
  return JSON.parse(new TextDecoder().decode(bytes)) as { readonly [name: string]: unknown }
}

/** Keys of several tenants say whose tokens they may sign. */
export function checkKeyIssuer(
  { template }: Provider,
  { keys }: Known,
  idToken: string,
  claims: Claims,
): void {
  if (template === undefined) return
  const { kid } = decodePart(idToken, 0)
  const key = keys.jwks?.keys.find((one) => one.kid === kid) as { issuer?: unknown } | undefined
  if (kid === undefined || key === undefined) throw new IdTokenProblem('it names none of the keys')
  if (typeof key.issuer !== 'string' || tenantIssuer(key.issuer, claims) === claims.iss) return
  throw new IdTokenProblem('its key is for another tenant')
}
