/**
 * What a request for the MCP endpoint passes before its message is parsed: content type, token, rate limit, and the limits for the
 * size and time of its body. The Host and Origin guard (`refuseUnguarded`) runs first.
 */
import { ErrorCode } from '../definition/protocol-error.ts'
import type { Admitted } from '../protocol/engine-options.ts'
import type { Whole } from '../protocol/reply.ts'
import { type AdmissionOptions, createAdmit, type Received } from './admission.ts'
import { readBody } from './body.ts'
import type { BodyFault } from './json-answer.ts'
import { refusal } from './refusal.ts'
import type { Traffic } from './traffic.ts'

export interface DoorOptions extends AdmissionOptions {
  readonly maxBodyBytes: number
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number
}

export interface Door {
  /** Identifies the sender, or returns the refusal. Never throws, never rejects. */
  letIn(received: Received): Admitted | Whole | Promise<Admitted | Whole>
  /** Returns the body, or the refusal. Never rejects. */
  read(from: Pick<Admitted, 'request' | 'headers'>): Promise<{ readonly text: string } | Whole>
  /** Reports a server error. */
  fail(error: unknown, received: Received): Whole
}

export function createDoor(options: DoorOptions, traffic: Traffic): Door {
  const admit = createAdmit(options, traffic)

  const fail: Door['fail'] = (error, { requestId, headers }) => {
    options.reportError(error, { requestId })
    return refusal(500, 'Internal error', headers, ErrorCode.internal)
  }

  return {
    fail,
    letIn(received) {
      // An error in a verifier, or in the function that chooses the rate limiter, is a server error; it is answered like a refusal.
      try {
        const outcome = refuseContent(received) ?? admit(received)
        return outcome instanceof Promise ? outcome.catch((error) => fail(error, received)) : outcome
      } catch (error) {
        return fail(error, received)
      }
    },
    read: ({ request, headers }) =>
      readBody(request, options.maxBodyBytes, options.bodyTimeoutMs).then((body) =>
        body.ok ? body : refuseBody(body.fault, headers, options),
      ),
  }
}

function refuseBody(
  fault: BodyFault,
  headers: Received['headers'],
  { maxBodyBytes, bodyTimeoutMs }: DoorOptions,
): Whole {
  switch (fault) {
    case 'too-large':
      return refusal(413, `The body is larger than ${maxBodyBytes} bytes.`, headers)
    case 'too-slow':
      return refusal(408, `The body did not arrive within ${bodyTimeoutMs} ms.`, headers)
    case 'not-utf8':
      return refusal(400, 'Parse error: the body is not UTF-8.', headers, ErrorCode.parse)
    case 'unreadable':
      return refusal(400, 'Parse error: the body could not be read.', headers, ErrorCode.parse)
  }
}

/** Only JSON in UTF-8 without a content encoding is read (RFC 9110 §15.5.16). */
function refuseContent({ request, headers }: Received): Whole | undefined {
  if (request.method !== 'POST') return undefined
  const type = request.headers.get('content-type')
  if (type !== 'application/json' && !isJson(type))
    return refusal(415, 'Unsupported media type: send application/json in UTF-8.', headers)
  const encoding = request.headers.get('content-encoding')
  if (encoding === null || encoding.trim().toLowerCase() === 'identity') return undefined
  return refusal(415, 'Unsupported content encoding: send the body as it is.', {
    ...headers,
    'accept-encoding': 'identity',
  })
}

function isJson(contentType: string | null): boolean {
  const [essence = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  if (essence.trim() !== 'application/json') return false
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([^"]*)"?\s*$/.exec(one)?.[1]?.trim())
  return charset.every((name) => name === undefined || name === 'utf-8' || name === 'utf8')
}
