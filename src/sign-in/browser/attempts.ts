/**
 * Codes that the provider refused, counted by network for a minute: anybody can begin sign-ins and come back with made-up codes, each of
 * which is a request to the provider, whose patience with this server is everybody's.
 */
import { isA, memberOf } from '../../definition/error-text.ts'
import { allowanceOf } from '../clients/limits.ts'
import { asUnit, type Signing } from '../signing.ts'
import { UpstreamRefusedError, UpstreamUnavailableError } from '../upstream/upstream.ts'

/** Whether the provider is asked about another code from this network. */
export function mayTryCode(signing: Signing): Promise<boolean> {
  return asUnit(signing, async (unit) => (await allowanceOf('refused', signing.address, unit)) !== undefined)
}

/** Counts a code that the provider did not accept. Never rejects: the caller reads what the provider said. */
export async function countRefused(signing: Signing, error: unknown): Promise<void> {
  if (!isRefusal(error)) return
  try {
    await asUnit(signing, async (unit) => (await allowanceOf('refused', signing.address, unit))?.count())
  } catch (cause) {
    signing.report(cause)
  }
}

/** Anything else is an outage, which is nobody's fault: no answer in time, a status of 500, what `fetch` throws. */
function isRefusal(error: unknown): boolean {
  if (isA(error, UpstreamRefusedError)) return true
  if (!isA(error, UpstreamUnavailableError)) return false
  const cause = memberOf(error, 'cause')
  const status = Number(memberOf(cause, 'status'))
  return memberOf(cause, 'code') === 'misconfigured' || (status >= 400 && status < 500)
}
