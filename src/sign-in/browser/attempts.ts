/**
 * Codes that the provider refused, counted by network for a minute: anybody can begin sign-ins and come back with made-up codes, each of
 * which is a request to the provider, whose patience with this server is everybody's.
 */
import { isA, memberOf } from '../../definition/error-text.ts'
import { type Allowance, allowanceOf, COUNTING_ATTEMPTS } from '../clients/limits.ts'
import { asUnit, type Signing } from '../signing.ts'
import type { Unit } from '../unit.ts'
import { UpstreamRefusedError, UpstreamUnavailableError } from '../upstream/upstream.ts'

/** Counts a code before the provider is asked: of many at once, no more are sent. Undefined: none from this network, for now. */
export async function reserveCode(signing: Signing, unit: Unit): Promise<Allowance | undefined> {
  const allowance = await allowanceOf('refused', signing.address, unit)
  await allowance?.count()
  return allowance
}

/** A code that was accepted, or that the provider did not judge, does not count. Never rejects: the count lasts a minute. */
export async function giveBack(signing: Signing, allowance: Allowance): Promise<void> {
  try {
    await asUnit(signing, (unit) => allowance.giveBack(unit), COUNTING_ATTEMPTS)
  } catch (error) {
    signing.report(error)
  }
}

/** Whether the provider did not accept the code. Anything else is an outage, which is nobody's fault: no answer in time, a status of 500, what `fetch` throws. */
export function isRefusal(error: unknown): boolean {
  if (isA(error, UpstreamRefusedError)) return true
  if (!isA(error, UpstreamUnavailableError)) return false
  const cause = memberOf(error, 'cause')
  const status = Number(memberOf(cause, 'status'))
  return memberOf(cause, 'code') === 'misconfigured' || (status >= 400 && status < 500)
}
