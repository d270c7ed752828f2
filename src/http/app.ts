/**
 * The app: from any request to its response. It works under any path: every POST is for the MCP endpoint, whatever prefix it is
 * mounted at. A message goes admit → read here, and describe → enter → answer → finish in the engine.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Engine } from '../protocol/engine.ts'
import type { Admitted, Checkpoint } from '../protocol/options.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import {
  type AdmissionOptions,
  createAdmit,
  type Received,
  receive,
  refuseTraffic,
  refuseUnguarded,
} from './admission.ts'
import type { AuditOptions } from './audit.ts'
import { readBody } from './body.ts'
import { preflightResponse } from './cors.ts'
import { createJournal } from './journal.ts'
import type { Log } from './log.ts'
import { callerAddress } from './public-url.ts'
import { refusal } from './refusal.ts'
import {
  healthResponse,
  metadataResponse,
  methodsOf,
  notServed,
  pageResponse,
  type RouteOptions,
  type ServerDescription,
  wantsPage,
} from './routes.ts'
import { callerKey, createTraffic, type TrafficOptions } from './traffic.ts'

export interface AppOptions extends AdmissionOptions, RouteOptions, TrafficOptions {
  readonly maxBodyBytes: number
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number
  readonly log: Log | undefined
  readonly audit: AuditOptions | undefined
  readonly reportError: ReportError
}

/** What stands before a server's answers, made once. */
export interface App {
  /** Any request of HTTP. */
  serve(request: Request, platform: RequestPlatform): Promise<Response>
  readonly endpoint: Endpoint
  readonly engine: Engine
}

/** The steps of `serve`, for transports that keep connections: they put one of their own between reading and answering. */
export interface Endpoint {
  /** Bytes that a body, or a message on stdio, may have. */
  readonly maxBodyBytes: number
  /** Guard, token and count. A response is the answer to a caller who is not let in, or to a preflight. */
  admit(request: Request, platform: RequestPlatform): Promise<Admitted | Response>
  /** The body as text, within its limits of size and time. A response is the refusal. */
  read(admitted: Admitted): Promise<string | Response>
  /** Answers a body without a session. */
  answer(body: string, admitted: Admitted): Promise<Response>
  /** Writes a request down that no message came of. Returns the response. */
  log(response: Response, admitted: Admitted): Response
}

/** Sessions are listened to by GET and ended by DELETE. */
const SESSION_METHODS = 'GET, POST, DELETE, OPTIONS'

/** `createEngine` is given what every message passes. */
export function createApp(
  description: ServerDescription,
  createEngine: (checkpoint: Checkpoint) => Engine,
  options: AppOptions,
): App {
  const traffic = createTraffic(options)
  const journal = createJournal(options)
  const admitCaller = createAdmit(options, traffic)

  const checkpoint: Checkpoint = {
    enter({ auth, platform, request, isHttp, counted }) {
      if (!isHttp || !traffic.counts(platform.env)) return traffic.enter()
      if (counted.messages > 0) {
        counted.messages--
        return traffic.enter()
      }
      const address = callerAddress(request.headers, platform, options.trustProxy)
      return traffic
        .count(callerKey(auth, address), platform.env)
        .then((overRate) => overRate ?? traffic.enter())
    },
    finish: journal.message,
  }
  const engine = createEngine(checkpoint)

  /** What a verifier throws, or what chooses the rate limiter, is a fault of the server, and answered like a refusal. */
  const fail = (error: unknown, { requestId, headers }: Received): Response => {
    options.reportError(error, { requestId })
    return refusal(500, 'Internal error', headers, ErrorCode.internal)
  }

  const admit = (received: Received): Admitted | Response | Promise<Admitted | Response> => {
    try {
      const outcome = refuseContent(received) ?? admitCaller(received)
      return outcome instanceof Promise ? outcome.catch((error) => fail(error, received)) : outcome
    } catch (error) {
      return fail(error, received)
    }
  }

  const read = async ({ request, headers }: Pick<Admitted, 'request' | 'headers'>) => {
    const { maxBodyBytes, bodyTimeoutMs } = options
    const body = await readBody(request, maxBodyBytes, bodyTimeoutMs)
    if (body.ok) return body.text
    switch (body.fault) {
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

  const post = async (received: Received): Promise<Response> => {
    const outcome = admit(received)
    const admitted = outcome instanceof Promise ? await outcome : outcome
    if (admitted instanceof Response) return log(admitted, received)
    const body = await read(admitted)
    // The engine writes down what comes of a body.
    return body instanceof Response ? log(body, admitted) : engine.serve({ text: body }, admitted)
  }

  const log = (response: Response, seen: Received | Admitted): Response => {
    journal.request(seen, response.status)
    return response
  }

  const get = async (received: Received): Promise<Response> => {
    const open = healthResponse(received, options) ?? metadataResponse(received, options)
    if (open !== undefined) return open
    if (!wantsPage(received, options)) return notServed(received, options)
    const { request, platform, headers } = received
    if (traffic.counts(platform.env)) {
      const address = callerAddress(request.headers, platform, options.trustProxy)
      const overRate = await traffic.count(callerKey(undefined, address), platform.env)
      if (overRate !== undefined) return refuseTraffic(overRate, headers)
    }
    // A page may run the server to see what it has.
    const entered = traffic.enter()
    if (typeof entered !== 'function') return refuseTraffic(entered, headers)
    return pageResponse(received, description, options)
      .catch((error: unknown) => {
        if (request.signal.aborted) return new Response(null, { status: 499 })
        if (error instanceof ProtocolError) return refusal(504, error.message, headers, error.code)
        return fail(error, received)
      })
      .finally(entered)
  }

  const respond = (received: Received): Response | Promise<Response> => {
    const { method } = received.request
    // A page has an Origin, and is guarded like any other.
    const isProbe = !received.request.headers.has('origin')
    const early = isProbe ? healthResponse(received, options) : undefined
    const refused = early ?? refuseUnguarded(received, options)
    if (refused !== undefined) return refused
    if (method === 'OPTIONS') return preflightResponse(received.request, methodsOf(options))
    if (method === 'GET' || method === 'HEAD') return get(received)
    return notServed(received, options)
  }

  const endpoint: Endpoint = {
    maxBodyBytes: options.maxBodyBytes,
    async admit(request, platform) {
      const received = receive(request, platform, options.reportError)
      const refused = refuseUnguarded(received, options)
      if (refused !== undefined) return log(refused, received)
      if (request.method === 'OPTIONS') return log(preflightResponse(request, SESSION_METHODS), received)
      const admitted = await admit(received)
      return admitted instanceof Response ? log(admitted, received) : admitted
    },
    async read(admitted) {
      const body = await read(admitted)
      return body instanceof Response ? log(body, admitted) : body
    },
    answer: (body, admitted) => engine.serve({ text: body }, admitted),
    log,
  }

  return {
    engine,
    endpoint,
    async serve(request, platform) {
      const received = receive(request, platform, options.reportError)
      if (request.method === 'POST') {
        const refused = refuseUnguarded(received, options)
        return refused === undefined ? post(received) : log(refused, received)
      }
      const response = log(await respond(received), received)
      // A HEAD has the headers of a GET, and no body (RFC 9110 §9.3.2): not every platform drops it.
      return request.method === 'HEAD' ? new Response(null, response) : response
    },
  }
}

/** A body that is not JSON in UTF-8, as it stands, is not read (RFC 9110 §15.5.16). */
function refuseContent({ request, headers }: Received): Response | undefined {
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
