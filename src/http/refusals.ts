/** What refused requests are told, and the headers with it: loaded at the first refusal. */
import { ErrorCode } from '../definition/protocol-error.ts'
import { type Full, fullAnswer } from '../definition/shares.ts'
import type { Refusal } from '../protocol/engine-options.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import { parseHost } from '../request/address.ts'
import { type Received, SECURITY_HEADERS } from './admission.ts'
import { publicHost } from './forwarded.ts'
import type { BodyFault } from './json-answer.ts'
import { refusal } from './refusal.ts'

/** For the operator of a proxy in front of the server. */
const REFUSED = {
  Host: (request: Request, trustProxy: boolean) =>
    `Forbidden: this server does not serve the Host${shownHost(request, trustProxy)}. If it is yours, set http.allowedHosts, http.publicUrl or MAYFLY_ALLOWED_HOSTS.`,
  Origin: () =>
    'Forbidden: this server does not accept that Origin. If it is yours, set http.allowedOrigins.',
} as const

/** As it arrived: only what is a host in form, so no other text of the sender. */
function shownHost(request: Request, trustProxy: boolean): string {
  const shown = [publicHost(request, false), ...(trustProxy ? [publicHost(request, true)] : [])]
  const names = [...new Set(shown)].filter((host) => parseHost(host) !== undefined)
  return names.length === 0 ? '' : ` ${names.join(', forwarded as ')}`
}

/** A Host or an Origin that the server does not serve. */
export function refuseHeader(
  which: keyof typeof REFUSED,
  request: Request,
  trustProxy: boolean,
): BufferedReply {
  return refusal(403, REFUSED[which](request, trustProxy), SECURITY_HEADERS)
}

/** @param fault Why the body was not read. */
export function refuseBody(
  fault: BodyFault | Full,
  headers: Received['headers'],
  { maxBodyBytes, bodyTimeoutMs }: { readonly maxBodyBytes: number; readonly bodyTimeoutMs: number },
): BufferedReply {
  switch (fault) {
    case 'too-large':
      return refusal(413, `The body is larger than ${maxBodyBytes} bytes.`, headers)
    case 'too-slow':
      return refusal(408, `The body did not arrive within ${bodyTimeoutMs} ms.`, headers)
    case 'share':
    case 'all':
      return refuseTraffic(fullAnswer(fault, 'large bodies at once', 'http.maxBufferedBytes', 1), headers)
    case 'not-utf8':
      return refusal(400, 'Parse error: the body is not UTF-8.', headers, ErrorCode.parse)
    case 'unreadable':
      return refusal(400, 'Parse error: the body could not be read.', headers, ErrorCode.parse)
  }
}

export function refuseTraffic(
  { status, message, headers }: Refusal,
  own: { readonly [name: string]: string },
): BufferedReply {
  return refusal(status, message, { ...own, ...headers })
}
