/** The caller for whom places are counted. */
import { reachOf, toNetwork } from '../request/address.ts'
import { principalOf } from '../request/principal.ts'
import type { Sender } from '../request/sharing.ts'
import { callerAddress } from './forwarded.ts'

/**
 * The principal, otherwise the address (for IPv6 its first 64 bits). Undefined without either, and for a private or loopback peer: that may
 * be a proxy, behind which are many callers.
 */
export function createCallerOf(trustProxy: boolean): (sender: Sender) => string | undefined {
  return ({ auth, platform, request }) => {
    if (auth !== undefined) return `principal ${principalOf({ auth })}`
    const address = callerAddress(request.headers, platform, trustProxy)
    if (address === undefined) return undefined
    const isForwarded = trustProxy && request.headers.has('x-forwarded-for')
    return isForwarded || reachOf(address) === 'public' ? `address ${toNetwork(address)}` : undefined
  }
}
