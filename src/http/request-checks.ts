/**
 * The checks of a request for the MCP endpoint before its message is parsed, with and without sessions: Host and Origin, content type,
 * token, rate limit, and the limits for the size and time of its body.
 */
import { withPart } from '../definition/part.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import type { Full } from '../definition/shares.ts'
import type { Admitted } from '../protocol/engine-options.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import type { AdmissionOptions, Received } from './admission.ts'
import { type Arrival, isSmall, readSmall, toText } from './body.ts'
import type { BodyOptions, ReadLarge } from './body-pieces.ts'
import type { WithCallers } from './callers.ts'
import { isJson, isUnencoded } from './content-type.ts'
import type { Guard } from './guard.ts'
import type { BodyFault } from './json-answer.ts'
import { loadOther } from './load-other.ts'
import { refusal } from './refusal.ts'
import type { TrafficOptions } from './traffic.ts'

export interface RequestCheckOptions extends AdmissionOptions, BodyOptions {}

export interface RequestChecks {
  /** Identifies the sender, or returns the refusal or the response to a preflight. Never rejects. */
  admit(received: Received): Admitted | BufferedReply | Promise<Admitted | BufferedReply>
  /** Returns the body, or the refusal. Never rejects. */
  read(from: Admitted): Promise<{ readonly text: string } | BufferedReply>
  /** Reports a server error. */
  fail(error: unknown, received: Pick<Received, 'requestId' | 'headers'>): BufferedReply
}

export function createRequestChecks(
  options: RequestCheckOptions & TrafficOptions,
  guard: Guard,
  callers: WithCallers,
): RequestChecks {
  const { auth, rateLimiterFor, unknownAccess } = options
  const isOpen = auth === undefined && rateLimiterFor === undefined
  const arrival: Arrival = { late: 0 }
  let readLarge: ReadLarge | undefined

  const fail: RequestChecks['fail'] = (error, { requestId, headers }) => {
    options.reportError(error, { requestId })
    return refusal(500, 'Internal error', headers, ErrorCode.internal)
  }

  const decide: RequestChecks['admit'] = (received) => {
    const refused = guard(received)
    if (refused !== undefined) return refused
    const { request, platform } = received
    const { method } = request
    if (method === 'OPTIONS')
      return withPart(loadOther, ({ preflightResponse, SESSION_METHODS }) =>
        preflightResponse(request, SESSION_METHODS),
      )
    const unread = method === 'POST' ? refuseContent(received) : undefined
    if (unread !== undefined) return unread
    // Most servers identify nobody and count nothing.
    return isOpen && platform.caller === undefined
      ? { ...received, auth: undefined, access: unknownAccess }
      : callers(({ admit }) => admit(received))
  }

  const refuse = (fault: BodyFault | Full, admitted: Admitted): BufferedReply | Promise<BufferedReply> => {
    const { headers } = admitted
    const refusing = withPart(loadOther, ({ refuseBody }) => refuseBody(fault, headers, options))
    return refusing instanceof Promise ? refusing.catch((error) => fail(error, admitted)) : refusing
  }

  return {
    fail,
    admit(received) {
      // An error in a verifier, or in the function that chooses the rate limiter, is a server error; it is answered like a refusal.
      try {
        const outcome = decide(received)
        return outcome instanceof Promise ? outcome.catch((error) => fail(error, received)) : outcome
      } catch (error) {
        return fail(error, received)
      }
    },
    read(admitted) {
      const { request, sent, platform } = admitted
      const { maxBodyBytes, bodyTimeoutMs } = options
      if (isSmall(sent, maxBodyBytes))
        return readSmall(
          request,
          maxBodyBytes,
          bodyTimeoutMs,
          (bytes) => {
            const body = toText(bytes)
            return body.ok ? body : refuse(body.fault, admitted)
          },
          arrival,
          platform.timersEnd,
        )
      const reading = withPart(loadOther, ({ createReadLarge }) => {
        readLarge ??= createReadLarge(options)
        return readLarge(admitted)
      })
      return Promise.resolve(reading).then(
        (body) => (body.ok ? body : refuse(body.fault, admitted)),
        (error: unknown) => fail(error, admitted),
      )
    },
  }
}

/** Of a POST, only JSON in UTF-8 without a content encoding is read (RFC 9110 §15.5.16). */
function refuseContent({ sent, headers }: Received): BufferedReply | undefined {
  const contentType = sent.get('content-type')
  if (contentType !== 'application/json' && !isJson(contentType))
    return refusal(415, 'Unsupported media type: send application/json in UTF-8.', headers)
  const encoding = sent.get('content-encoding')
  if (encoding === null || isUnencoded(encoding)) return undefined
  return refusal(415, 'Unsupported content encoding: send the body as it is.', {
    ...headers,
    'accept-encoding': 'identity',
  })
}
