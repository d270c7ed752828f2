/**
 * Converts a response to the result of each of AWS Lambda's HTTP triggers, with the size limits there.
 */
import { Buffer, isUtf8 } from 'node:buffer'
import { BufferedReply } from '../../src/protocol/reply.ts'
import { isPlain } from '../_fetch/plain-headers.ts'
import type { EventShape } from './event-to-request.ts'

/** Status and headers, which are the prelude of a streamed response. */
export interface ResponseHead {
  readonly statusCode: number
  /** Application Load Balancer: `200 OK`. */
  readonly statusDescription?: string
  readonly headers?: { readonly [name: string]: string }
  readonly multiValueHeaders?: { readonly [name: string]: readonly string[] }
  /** Payload format 2.0: each is a `Set-Cookie` header. */
  readonly cookies?: readonly string[]
}

/** The result that a buffered handler returns to Lambda. */
export interface LambdaResult extends ResponseHead {
  readonly body: string
  readonly isBase64Encoded: boolean
}

/**
 * Maximum bytes of the JSON result for each trigger. Lambda documents 6 MB and enforces 6 291 556 bytes ("exceeded maximum allowed
 * payload size"); a load balancer accepts "1 MB".
 */
const MAX_RESULT_BYTES = { v2: 6_291_556, v1: 6_291_556, alb: 1_000_000, 'alb-multi-value': 1_000_000 }

/** Reserved for status and headers. */
const HEAD_BYTES = 16_384

/** "Maximum response payload size" of response streaming: 200 MB. */
export const MAX_STREAMED_BYTES = 200_000_000

/**
 * Maximum bytes of a JSON body that always fits, whatever it contains. As text inside the result, each of its quotes takes two bytes,
 * so a body that does not fit as text is sent as Base64, four bytes for three. A REST API decodes Base64 only for media types
 * configured as binary, so there only half is guaranteed to fit.
 */
export function maxBodyBytes(shape: EventShape): number {
  const room = MAX_RESULT_BYTES[shape] - HEAD_BYTES
  return Math.floor(shape === 'v1' ? room / 2 : (room * 3) / 4)
}

/** What is sent: a `Response`, or the stand-in for one that `respond` creates. */
export type Answer = Response | BufferedReply

type PlainHeaders = { readonly [name: string]: string }

/** A name as `Headers` has it, in lower case. */
const LOWER_CASE = /^[a-z\d-]+$/

/** Creates the stand-in for a `Response`, which costs a fraction of one. Whatever a `Response` would change or refuse is left to it. */
export function respond(text: string | null, status: number, headers: PlainHeaders): Response {
  const isJson = headers['content-type'] === 'application/json'
  const isSame =
    status >= 200 &&
    status <= 599 &&
    (text === null || isJson) &&
    Object.entries(headers).every(([name, value]) => LOWER_CASE.test(name) && isPlain(name, value))
  // `toAnswer` returns it as what it is.
  if (isSame && !('set-cookie' in headers))
    return new BufferedReply(text, status, headers) as object as Response
  return new Response(text, { status, headers })
}

/** A response that `respond` may have created. */
export function toAnswer(response: object): Answer {
  return response instanceof BufferedReply ? response : (response as Response)
}

export function toHead(answer: Answer, shape: EventShape): ResponseHead {
  const { status: statusCode } = answer
  const isBuffered = answer instanceof BufferedReply
  const single = isBuffered ? answer.headers : singleOf(answer.headers)
  const cookies = isBuffered ? [] : answer.headers.getSetCookie()
  if (shape === 'v2') return { statusCode, headers: single, ...(cookies.length > 0 && { cookies }) }
  if (shape === 'alb') {
    // It accepts one value per name: more cookies need multi-value headers on the target group.
    const last = cookies.at(-1)
    return { statusCode, headers: { ...single, ...(last !== undefined && { 'set-cookie': last }) } }
  }
  const multiValueHeaders: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(single)) multiValueHeaders[name] = [value]
  if (cookies.length > 0) multiValueHeaders['set-cookie'] = cookies
  return { statusCode, multiValueHeaders }
}

function singleOf(headers: Headers): PlainHeaders {
  const single: Record<string, string> = {}
  for (const [name, value] of headers) if (name !== 'set-cookie') single[name] = value
  return single
}

export async function toResult(answer: Answer, shape: EventShape): Promise<LambdaResult> {
  const head = { ...toHead(answer, shape), ...(shape.startsWith('alb') && (await described(answer))) }
  const isBuffered = answer instanceof BufferedReply
  const bytes = isBuffered ? Buffer.from(answer.text ?? '') : Buffer.from(await answer.arrayBuffer())
  const body = isBuffered || isText(answer.headers) ? asText(bytes, shape) : undefined
  return { ...head, body: body ?? bytes.toString('base64'), isBase64Encoded: body === undefined }
}

/** Only a load balancer needs it. An import of node:http loads Node's fetch, too, which most calls do without. */
async function described(answer: Answer): Promise<Pick<LambdaResult, 'statusDescription'>> {
  const { STATUS_CODES } = await import('node:http')
  const given = answer instanceof BufferedReply ? '' : answer.statusText
  return { statusDescription: `${answer.status} ${given || (STATUS_CODES[answer.status] ?? '')}` }
}

/** Undefined if it is not UTF-8, or would be too large inside the result. */
function asText(bytes: Buffer, shape: EventShape): string | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString('utf8')
  const room = MAX_RESULT_BYTES[shape] - HEAD_BYTES
  // A byte becomes at most 6 (\u0001), so most bodies need no exact count.
  if (bytes.byteLength * 6 <= room || shape === 'v1') return text
  return Buffer.byteLength(JSON.stringify(text)) <= room ? text : undefined
}

function isText(headers: Headers): boolean {
  if (headers.has('content-encoding')) return false
  const type = headers.get('content-type')
  return type === null || /^(?:text\/|application\/(?:.*\+)?(?:json|javascript|xml)\b)/i.test(type)
}
