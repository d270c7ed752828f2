/**
 * The checks of a request for the MCP endpoint before its message is parsed, with and without sessions: Host and Origin, content type,
 * token, rate limit, and the limits for the size and time of its body.
 */
import { ErrorCode } from '../definition/protocol-error.ts'
import type { Admitted } from '../protocol/engine-options.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import { createShares, type Full, fullAnswer, type Place, type Sharing } from '../request/shares.ts'
import {
  type AdmissionOptions,
  createAdmitCaller,
  type Received,
  refuseTraffic,
  refuseUnguarded,
} from './admission.ts'
import { type Reserve, readBody } from './body.ts'
import { isJson } from './content-type.ts'
import { preflightResponse } from './cors.ts'
import type { BodyFault } from './json-answer.ts'
import { refusal } from './refusal.ts'
import { SESSION_METHODS } from './routes.ts'
import type { Traffic } from './traffic.ts'

export interface RequestCheckOptions extends AdmissionOptions, Sharing {
  readonly maxBodyBytes: number
  /** Maximum bytes of all larger bodies that are arriving. */
  readonly maxBufferedBytes: number
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number
}

export interface RequestChecks {
  /** Identifies the sender, or returns the refusal or the response to a preflight. Never rejects. */
  admit(received: Received): Admitted | BufferedReply | Promise<Admitted | BufferedReply>
  /** Returns the body, or the refusal. Never rejects. */
  read(from: Admitted): Promise<{ readonly text: string } | BufferedReply>
  /** Reports a server error. */
  fail(error: unknown, received: Received): BufferedReply
}

export function createRequestChecks(options: RequestCheckOptions, traffic: Traffic): RequestChecks {
  const admitCaller = createAdmitCaller(options, traffic)
  const buffers = createShares(options.maxBufferedBytes, options.callerShare)

  const fail: RequestChecks['fail'] = (error, { requestId, headers }) => {
    options.reportError(error, { requestId })
    return refusal(500, 'Internal error', headers, ErrorCode.internal)
  }

  return {
    fail,
    admit(received) {
      const { request } = received
      const refused = refuseUnguarded(received, options)
      if (refused !== undefined) return refused
      if (request.method === 'OPTIONS') return preflightResponse(request, SESSION_METHODS)
      // An error in a verifier, or in the function that chooses the rate limiter, is a server error; it is answered like a refusal.
      try {
        const outcome = refuseContent(received) ?? admitCaller(received)
        return outcome instanceof Promise ? outcome.catch((error) => fail(error, received)) : outcome
      } catch (error) {
        return fail(error, received)
      }
    },
    read(admitted) {
      const { request, headers } = admitted
      let place: Place | undefined
      const reserve: Reserve = (bytes) => {
        if (place !== undefined) return place.grow(bytes)
        const taken = buffers.take(options.callerOf(admitted), bytes)
        if (typeof taken === 'string') return taken
        place = taken
        return undefined
      }
      return readBody(request, options.maxBodyBytes, options.bodyTimeoutMs, reserve).then((body) => {
        place?.free()
        return body.ok ? body : refuseBody(body.fault, headers, options)
      })
    },
  }
}

function refuseBody(
  fault: BodyFault | Full,
  headers: Received['headers'],
  { maxBodyBytes, bodyTimeoutMs }: RequestCheckOptions,
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

/** Only JSON in UTF-8 without a content encoding is read (RFC 9110 §15.5.16). */
function refuseContent({ request, headers }: Received): BufferedReply | undefined {
  if (request.method !== 'POST') return undefined
  const contentType = request.headers.get('content-type')
  if (contentType !== 'application/json' && !isJson(contentType))
    return refusal(415, 'Unsupported media type: send application/json in UTF-8.', headers)
  const encoding = request.headers.get('content-encoding')
  if (encoding === null || encoding.trim().toLowerCase() === 'identity') return undefined
  return refusal(415, 'Unsupported content encoding: send the body as it is.', {
    ...headers,
    'accept-encoding': 'identity',
  })
}
