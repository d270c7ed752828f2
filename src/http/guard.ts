/** The guard, which every request passes before its token is checked and its body is read. */
import { withPart } from '../definition/part.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import type { AdmissionOptions, Received } from './admission.ts'
import { refusedHeader } from './host-and-origin.ts'
import { servedHosts } from './hosts.ts'
import { loadOther } from './load-other.ts'
import { refusal } from './refusal.ts'

export type Guard = typeof refuseUnguarded

/** Checks Host, Origin and the size of the headers. */
export function refuseUnguarded(
  { request, platform, headers }: Received,
  options: AdmissionOptions,
): BufferedReply | Promise<BufferedReply> | undefined {
  const { maxHeaderBytes, trustProxy } = options
  const allowedHosts = servedHosts(options.allowedHosts, platform.env)
  const refused = refusedHeader(request, platform.loopback === true, allowedHosts, options)
  if (refused !== undefined)
    return withPart(loadOther, ({ refuseHeader }) => refuseHeader(refused, request, trustProxy))
  if (maxHeaderBytes !== undefined && headerBytes(request.headers) > maxHeaderBytes) {
    return refusal(431, `The headers are larger than ${maxHeaderBytes} bytes.`, headers)
  }
  return undefined
}

/** A header string has one character per byte (Fetch standard, "isomorphic decode"). */
function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}
