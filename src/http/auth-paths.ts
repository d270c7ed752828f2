/** The paths that `auth` answers itself beside the MCP endpoint, such as those of an authorization server. */
import type { AnswerOwn, AuthContext, ServeContext } from '../auth/auth.ts'
import { isA } from '../definition/error-text.ts'
import { TimeoutError, withTimeout } from '../definition/timeout.ts'
import { LEAVE, type Leave, type Refusal } from '../protocol/engine-options.ts'
import { type BufferedReply, jsonReply, type Reply } from '../protocol/reply.ts'
import { givenRequest, type RequestPlatform } from '../request/platform.ts'
import { type AdmissionOptions, type Received, SECURITY_HEADERS } from './admission.ts'
import { readBytes } from './body-pieces.ts'
import { callerAddress } from './forwarded.ts'
import type { SharedChecks } from './other-methods.ts'
import { resourceLocation } from './public-url.ts'

export interface AuthPathOptions extends AdmissionOptions {
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
  /** The server's name for people, if known. */
  readonly name?: string
}

/** `guard`: without a check of `Origin`. */
type OwnChecks = Pick<SharedChecks, 'traffic' | 'guard'>

/** Bytes of a form or of what registers a client. */
const MAX_BODY_BYTES = 65_536
/** Milliseconds for one answer, which may need one of an identity provider. */
const ANSWER_MS = 20_000
/** Milliseconds before the platform ends the call, to answer. */
const MARGIN_MS = 200

/** What answers a request for a path of `auth` or of an extension; undefined for any other request. */
export function answerOf(
  request: Request,
  platform: RequestPlatform,
  options: Pick<
    AuthPathOptions,
    'auth' | 'routes' | 'serverId' | 'name' | 'trustProxy' | 'publicUrl' | 'allowedHosts'
  >,
  own: Pick<AuthContext, 'waitUntil'> & Pick<ServeContext, 'report'>,
): AnswerOwn | undefined {
  const { auth, serverId, name, trustProxy } = options
  const address = callerAddress(request.headers, platform, trustProxy)
  const context: ServeContext = {
    ...own,
    env: platform.env,
    server: serverId,
    ...(address !== undefined && { address }),
    ...(platform.prefix !== undefined && { prefix: platform.prefix }),
    location: () => ({
      ...resourceLocation(request, platform, options),
      ...(name !== undefined && { name }),
    }),
    request: () => givenRequest(request, platform),
  }
  return auth?.serve?.(request, context) ?? options.routes?.(request, context)
}

/**
 * Answers a request for a path of `auth`, within the limits for hosts, headers, rate, concurrency, size and time. Any `Origin` passes: its
 * answers say which sites may read them, and its forms which may send them. Undefined for any other request.
 */
export function serveAuthPath(
  received: Received,
  options: AuthPathOptions,
  shared: OwnChecks,
): Promise<Reply> | undefined {
  const { request, platform, requestId, waitUntil } = received
  const report = (error: unknown): void => options.reportError(error, { requestId, auth: true })
  const answer = answerOf(request, platform, options, { waitUntil, report })
  return answer && guarded(answer, received, { ...options, report }, shared)
}

async function guarded(
  answer: AnswerOwn,
  received: Received,
  limits: AnswerLimits,
  shared: OwnChecks,
): Promise<Reply> {
  const { request, platform, requestId } = received
  const headers = { ...SECURITY_HEADERS, 'x-request-id': received.headers['x-request-id'] ?? requestId }
  const refused = await shared.guard(received)
  if (refused !== undefined) return refused
  const traffic = await shared.traffic()
  const sender = { request, platform, auth: undefined }
  const overRate = traffic?.counts(platform.env) ? await traffic.count(sender) : undefined
  if (overRate !== undefined) return busy(overRate, headers)
  const leave = traffic?.enter(sender)
  if (typeof leave === 'object') return busy(leave, headers)
  return answerWithin(answer, received, limits, headers, leave)
}

export interface AnswerLimits {
  readonly maxBodyBytes: number
  readonly bodyTimeoutMs: number
  report(error: unknown): void
}

/** Answers within the limits for size and time. Never rejects. `leave` is called once. */
export async function answerWithin(
  answer: AnswerOwn,
  served: Pick<Received, 'request' | 'platform'>,
  limits: AnswerLimits,
  headers: { readonly [name: string]: string } = SECURITY_HEADERS,
  leave: Leave = LEAVE,
): Promise<Reply> {
  let rest: Promise<unknown> | undefined
  try {
    const given = await readRequest(served, limits)
    if (typeof given === 'string') return refuse(FAULTS[given], 'invalid_request', given, headers)
    const answering = answer(given)
    rest = answering
    const response = await withTimeout(answering, timeFor(served.platform), 'authorization server')
    rest = undefined
    return withHeaders(response, headers, given.method)
  } catch (error) {
    limits.report(error)
    if (!isA(error, TimeoutError)) return refuse(500, 'server_error', 'Internal error', headers)
    return refuse(504, 'temporarily_unavailable', 'Try again later.', { ...headers, 'retry-after': '5' })
  } finally {
    leave(rest && { work: rest.then(nothing, nothing), until: Date.now() + ANSWER_MS })
  }
}

const nothing = (): void => {}

const FAULTS = { 'too-large': 413, 'too-slow': 408, 'not-utf8': 400, unreadable: 400 } as const

/** A request of its own with the body of a POST; no other has one. Why the body is refused, if it is. */
async function readRequest(
  { request, platform }: Pick<Received, 'request' | 'platform'>,
  { maxBodyBytes, bodyTimeoutMs }: AnswerLimits,
): Promise<Request | keyof typeof FAULTS> {
  const { url, method, headers, signal } = givenRequest(request, platform)
  if (method !== 'POST') return new Request(url, { method, headers, signal })
  const body = await readBytes(request, Math.min(maxBodyBytes, MAX_BODY_BYTES), bodyTimeoutMs)
  // Its memory is its own: never shared.
  return 'fault' in body
    ? body.fault
    : new Request(url, { method, headers, signal, body: body as Uint8Array<ArrayBuffer> })
}

function timeFor({ deadline, firstByteBy }: RequestPlatform): number {
  const end = Math.min(deadline ?? Number.POSITIVE_INFINITY, firstByteBy ?? Number.POSITIVE_INFINITY)
  return Math.max(1, Math.min(ANSWER_MS, end - Date.now() - MARGIN_MS))
}

/** Its own headers win, such as a time for which metadata may be kept. HEAD has no body. */
function withHeaders(
  { body, status, statusText, headers: own }: Response,
  headers: { readonly [name: string]: string },
  method: string,
): Response {
  const merged = new Headers(own)
  for (const [name, value] of Object.entries(headers)) if (!merged.has(name)) merged.set(name, value)
  return new Response(method === 'HEAD' ? null : body, { status, statusText, headers: merged })
}

function busy(
  { status, message, headers }: Refusal,
  own: { readonly [name: string]: string },
): BufferedReply {
  return refuse(status, 'temporarily_unavailable', message, { ...own, ...headers })
}

/** In the form in which OAuth clients read it (RFC 6749 §5.2). */
function refuse(
  status: number,
  error: string,
  description: string,
  headers: { readonly [name: string]: string },
): BufferedReply {
  return jsonReply(JSON.stringify({ error, error_description: description }), status, headers)
}
