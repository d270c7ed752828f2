/**
 * The app: from any request to its response. Guard, CORS, body limit, the page and the pulse stand around the engine.
 * It works under any path: every POST is for the MCP endpoint, whatever prefix it is mounted at.
 */
import type { Admission, Auth, AuthRefusal } from '../auth/auth.ts'
import type { AuthInfo } from '../definition/context.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import type { Engine } from '../protocol/engine.ts'
import { jsonResponse } from '../protocol/exchange.ts'
import { errorMessage } from '../protocol/json-rpc.ts'
import type { RequestFacts, RequestRecord } from '../protocol/options.ts'
import type { Caller } from '../protocol/session.ts'
import type { Access } from '../request/access.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { AuditOptions } from './audit.ts'
import { readBody } from './body.ts'
import { CORS_HEADERS, preflightResponse } from './cors.ts'
import { type GuardOptions, isAllowed } from './guard.ts'
import { createJournal, type Served } from './journal.ts'
import type { Log } from './log.ts'
import { PAGE_CSP, type PageModel, renderPage } from './page.ts'
import {
  callerAddress,
  describedResource,
  type PublicUrlOptions,
  publicEndpoint,
  publicUrlOf,
  resourceLocation,
} from './public-url.ts'
import {
  callerKey,
  createTraffic,
  type Traffic,
  type TrafficOptions,
  type TrafficRefusal,
} from './traffic.ts'

export interface AppOptions extends GuardOptions, PublicUrlOptions, TrafficOptions {
  readonly maxBodyBytes: number
  /** Undefined: headers are not measured. */
  readonly maxHeaderBytes: number | undefined
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number
  /** Who checks the callers; undefined: nobody. */
  readonly auth: Auth | undefined
  readonly page: boolean
  readonly health: boolean
  readonly log: Log | undefined
  readonly audit: AuditOptions | undefined
  readonly reportError: ReportError
}

/** What a server shows of itself to whoever looks. */
export interface ServerFace {
  identity(platform: RequestPlatform): Identity | Promise<Identity>
  /** `access`: what anybody may use, where the rest is not for everybody to see. */
  page(
    endpoint: string,
    access: Access | undefined,
    platform: RequestPlatform,
  ): PageModel | Promise<PageModel>
}

interface Identity {
  readonly name: string
  readonly version: string
}

export interface App {
  serve(request: Request, platform: RequestPlatform): Promise<Response>
  /**
   * For transports that keep connections: the guard, the caller's token and their count, before anything of the body is read. A
   * response is the answer to a caller who may not enter, or to a preflight.
   */
  admit(request: Request, platform: RequestPlatform): Promise<Response | Admitted>
  /** Takes a call of a lasting connection on, as `serve` does for those it reads. */
  enter: Traffic['enter']
  /** A message of a lasting connection was served: for the log and the audit trail. */
  note(record: RequestRecord, facts: RequestFacts, caller: Caller, startedAt: number): void
}

/** A caller who may enter. */
export interface Admitted extends Caller {
  readonly request: Request
  /** What every response carries. */
  readonly headers: { readonly [name: string]: string }
}

const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const

/** Where nobody is asked who they are. */
const OPEN = { ok: true, auth: undefined, access: undefined } as const

/** A client's id for its request is taken over where it cannot harm a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/

interface Arrival extends Served {
  /** What every response carries. */
  readonly headers: { readonly [name: string]: string }
}

/** Sessions are listened to by GET and ended by DELETE. */
const SESSION_METHODS = 'GET, POST, DELETE, OPTIONS'

export function createApp(face: ServerFace, engine: Engine, options: AppOptions): App {
  const methods = options.page || options.health ? 'GET, POST, OPTIONS' : 'POST, OPTIONS'

  const traffic = createTraffic(options)

  const journal = createJournal(options)

  /** The caller's token, and their count. Callers who are refused are counted too, by their address: guessing tokens is a call. */
  const admit = async (arrival: Arrival): Promise<Response | Caller> => {
    const admission = options.auth === undefined ? OPEN : await verify(options.auth, arrival)
    const auth = admission.ok ? admission.auth : undefined
    const counted = countCall(auth, arrival)
    const overRate = counted && (await counted)
    if (overRate !== undefined) return refuseTraffic(overRate, arrival.headers)
    if (!admission.ok) return refuseCaller(admission.refusal, arrival)
    if (auth !== undefined) {
      arrival.record.clientId = auth.clientId
      arrival.facts.auth = auth
    }
    return admission
  }

  const post = async (arrival: Arrival): Promise<Response> => {
    const { request, platform, headers } = arrival
    if (!isJson(request.headers.get('content-type'))) {
      return refusal(415, 'Unsupported media type: send application/json.', headers)
    }
    // Before the body: what nobody may send is not read.
    const isOpen = options.auth === undefined && options.rateLimiterFor(platform.env) === undefined
    const caller = isOpen ? OPEN : await admit(arrival)
    if (caller instanceof Response) return caller
    const { auth, access } = caller
    const body = await readBody(request, options.maxBodyBytes, options.bodyTimeoutMs)
    if (!body.ok) {
      if (body.fault === 'too-large')
        return refusal(413, `The body is larger than ${options.maxBodyBytes} bytes.`, headers)
      if (body.fault === 'too-slow')
        return refusal(408, `The body did not arrive within ${options.bodyTimeoutMs} ms.`, headers)
      const message =
        body.fault === 'not-utf8'
          ? 'Parse error: the body is not UTF-8.'
          : 'Parse error: the body could not be read.'
      return refusal(400, message, headers, ErrorCode.parse)
    }
    const entered = traffic.enter()
    if (!('leave' in entered)) return refuseTraffic(entered, headers)
    const response = await engine({
      request,
      body: body.text,
      platform,
      requestId: arrival.requestId,
      auth,
      access,
      headers,
      record: arrival.record,
      facts: arrival.facts,
      startedAt: arrival.startedAt,
      waitUntil: (promise) => outlive(promise, platform, options.reportError),
      onStreamEnd: () => {
        entered.leave()
        journal(arrival, 200)
      },
    })
    if (!isStream(response)) entered.leave()
    return response
  }

  const countCall = (auth: AuthInfo | undefined, { request, platform }: Arrival) => {
    if (options.rateLimiterFor(platform.env) === undefined) return undefined
    const address = callerAddress(request.headers, platform, options.trustProxy)
    return traffic.count(callerKey(auth, address), platform.env)
  }

  const refuseTraffic = (
    { status, message, retryAfterSeconds }: TrafficRefusal,
    headers: Arrival['headers'],
  ): Response => refusal(status, message, { ...headers, 'retry-after': String(retryAfterSeconds) })

  const verify = (auth: Auth, { request, platform }: Arrival): Promise<Admission> =>
    auth.admit(request, {
      env: platform.env,
      location: () => resourceLocation(request, platform, options),
    })

  const refuseCaller = (
    { status, message, headers, cause }: AuthRefusal,
    { headers: own, requestId }: Arrival,
  ): Response => {
    if (cause !== undefined) options.reportError(cause, { requestId, auth: true })
    return refusal(status, message, { ...own, ...headers })
  }

  const get = async (arrival: Arrival): Promise<Response> => {
    const { request, platform, headers } = arrival
    const { path } = publicUrlOf(request, platform, options.trustProxy)
    if (options.health && path.endsWith('/healthz')) {
      const { name, version } = await face.identity(platform)
      return jsonResponse(JSON.stringify({ status: 'ok', name, version }), 200, headers)
    }
    if (options.auth !== undefined) {
      const resource = describedResource(request, platform, options)
      if (resource !== undefined)
        return jsonResponse(JSON.stringify(options.auth.metadata(resource)), 200, headers)
    }
    if (/\/\.well-known\/|\/favicon\.ico$/.test(path)) return new Response(null, { status: 404, headers })
    if (options.page && wantsPage(request, path)) {
      const endpoint = publicEndpoint(request, platform, options)
      const model = await face.page(endpoint, options.auth?.anonymous, platform)
      return new Response(renderPage(model), {
        headers: {
          ...headers,
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': PAGE_CSP,
        },
      })
    }
    return notAllowed(headers)
  }

  const notAllowed = (headers: Arrival['headers']): Response =>
    refusal(405, 'Method not allowed: this endpoint takes POST.', { ...headers, allow: methods })

  /** Host, Origin and headers: what is refused before anything is asked. */
  const refuseArrival = ({ request, platform, headers }: Arrival): Response | undefined => {
    const allowedHosts = options.allowedHosts ?? hostsFrom(platform.env)
    const { allowedOrigins, trustProxy, maxHeaderBytes } = options
    const guard = { allowedHosts, allowedOrigins, trustProxy }
    if (!isAllowed(request.headers, request.url, platform.loopback === true, guard)) {
      return refusal(403, 'Forbidden: this server does not serve that Host or Origin.', SECURITY_HEADERS)
    }
    if (maxHeaderBytes !== undefined && headerBytes(request.headers) > maxHeaderBytes) {
      return refusal(431, `The headers are larger than ${maxHeaderBytes} bytes.`, headers)
    }
    return undefined
  }

  const respond = (arrival: Arrival): Response | Promise<Response> => {
    const { request } = arrival
    const refused = refuseArrival(arrival)
    if (refused !== undefined) return refused
    if (request.method === 'POST') return post(arrival)
    if (request.method === 'OPTIONS') return preflightResponse(request, methods)
    if (request.method === 'GET' || request.method === 'HEAD') return get(arrival)
    return notAllowed(arrival.headers)
  }

  return {
    enter: traffic.enter,
    async serve(request, platform) {
      const arrival = toArrival(request, platform)
      const response = await respond(arrival)
      // A stream is logged when it ends, by then with what came of it.
      if (!isStream(response)) journal(arrival, response.status)
      return response
    },
    async admit(request, platform) {
      const arrival = toArrival(request, platform)
      const refused = refuseArrival(arrival)
      if (refused === undefined && request.method === 'OPTIONS')
        return preflightResponse(request, SESSION_METHODS)
      const caller = refused ?? (await admit(arrival))
      if (!(caller instanceof Response)) return { ...caller, request, headers: arrival.headers }
      journal(arrival, caller.status)
      return caller
    },
    note(record, facts, { request, auth }, startedAt) {
      // Without a request there is no HTTP, and on stdio nobody to read a log.
      if (request === undefined) return
      const known = { ...facts, ...(auth !== undefined && { auth }) }
      journal({ ...toArrival(request, {}), startedAt, record, facts: known }, 200)
    },
  }
}

function toArrival(request: Request, platform: RequestPlatform): Arrival {
  const sentId = request.headers.get('x-request-id')
  const requestId = sentId !== null && REQUEST_ID.test(sentId) ? sentId : crypto.randomUUID()
  return {
    request,
    platform,
    requestId,
    startedAt: Date.now(),
    record: {},
    facts: {},
    headers: {
      ...SECURITY_HEADERS,
      ...(request.headers.has('origin') && CORS_HEADERS),
      'x-request-id': requestId,
    },
  }
}

/** What HTTP gives us of a header are bytes as characters (Fetch standard, "isomorphic decode"). */
function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type') === 'text/event-stream'
}

function isJson(contentType: string | null): boolean {
  const [essence = ''] = (contentType ?? '').split(';')
  return essence.trim().toLowerCase() === 'application/json'
}

/** A refusal before any message is read: a JSON-RPC error without an id. */
function refusal(
  status: number,
  message: string,
  headers: { readonly [name: string]: string },
  code: number = ErrorCode.invalidRequest,
): Response {
  return jsonResponse(errorMessage(undefined, { code, message }), status, headers)
}

/** `MAYFLY_ALLOWED_HOSTS`: a comma-separated list, for deployments that know their hosts only at run time. */
function hostsFrom(env: unknown): readonly string[] | undefined {
  const hosts = (env as { MAYFLY_ALLOWED_HOSTS?: unknown } | null | undefined)?.MAYFLY_ALLOWED_HOSTS
  return typeof hosts === 'string' && hosts !== '' ? hosts.toLowerCase().split(/\s*,\s*/) : undefined
}

function wantsPage(request: Request, path: string): boolean {
  const accept = request.headers.get('accept') ?? ''
  if (accept.includes('text/html')) return true
  return path === '/' && !accept.includes('text/event-stream')
}

function outlive(promise: Promise<unknown>, { waitUntil }: RequestPlatform, reportError: ReportError): void {
  const guarded = promise.catch((error: unknown) => reportError(error, { waitUntil: true }))
  waitUntil?.(guarded)
}
