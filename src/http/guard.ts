/** The guard, which every request passes before its token is checked and its body is read. */
import { withPart } from '../definition/part.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import type { AdmissionOptions, Received } from './admission.ts'
import { refusedHeader } from './host-and-origin.ts'
import { servedHosts } from './hosts.ts'
import { loadOther } from './load-other.ts'
import { refusal } from './refusal.ts'

/** Checks Host, Origin and the size of the headers. */
export type Guard = (received: Received) => BufferedReply | Promise<BufferedReply> | undefined

export function createGuard(options: AdmissionOptions): Guard {
  const { maxHeaderBytes, trustProxy } = options
  /** Of the last request. They are read again from other variables only: each of Node's is asked of the system. */
  let seen: { readonly env: unknown; readonly allowedHosts: readonly string[] | undefined } | undefined
  return (received) => {
    const { request, sent, platform, headers } = received
    const { env } = platform
    if (seen === undefined || seen.env !== env)
      seen = { env, allowedHosts: servedHosts(options.allowedHosts, env) }
    const refused = refusedHeader(received, seen.allowedHosts, options)
    if (refused !== undefined)
      return withPart(loadOther, ({ refuseHeader }) => refuseHeader(refused, request, trustProxy))
    if (maxHeaderBytes !== undefined && headerBytes(sent) > maxHeaderBytes) {
      return refusal(431, `The headers are larger than ${maxHeaderBytes} bytes.`, headers)
    }
    return undefined
  }
}

/** A header string has one character per byte (Fetch standard, "isomorphic decode"). */
function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}
