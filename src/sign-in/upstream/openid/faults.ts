/** What an error of the library means, without what it holds: answers with tokens, claims and parameters. */
import * as oauth from 'oauth4webapi'
import { isA, memberOf } from '../../../definition/error-text.ts'
import { quoted } from '../errors.ts'
import { UpstreamFault } from '../upstream.ts'
import { IdTokenProblem } from './id-token.ts'

export function faultOf(error: unknown, secrets: readonly (string | undefined)[]): UpstreamFault {
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
