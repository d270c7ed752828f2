/**
 * Codes that the provider refused, counted by network for a minute: anybody can begin sign-ins and come back with made-up codes, each of
 * which is a request to the provider, whose patience with this server is everybody's.
 */
import { isA, memberOf } from '../../definition/error-text.ts'
import { allowanceOf } from '../clients/limits.ts'
import { asUnit, type Signing } from '../signing.ts'
import { UpstreamUnavailableError } from '../upstream/upstream.ts'

/** Whether the provider is asked about another code from this network. */
export function mayTryCode(signing: Signing): Promise<boolean> {
  return asUnit(signing, async (unit) => (await allowanceOf('refused', signing.address, unit)) !== undefined)
}

/** Counts a code with which nobody was signed in, unless the provider does not answer. Never rejects: the caller reads what the provider said. */
export async function countRefused(signing: Signing, error: unknown): Promise<void> {
  if (isOutage(error)) return
  try {
    await asUnit(signing, async (unit) => (await allowanceOf('refused', signing.address, unit))?.count())
  } catch (cause) {
    signing.report(cause)
  }
}

function isOutage(error: unknown): boolean {
  if (!isA(error, UpstreamUnavailableError)) return false
  const code = memberOf(memberOf(error, 'cause'), 'code')
  return code === undefined || code === 'unreachable'
}
