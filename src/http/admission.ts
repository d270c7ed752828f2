/**
 * Admission: checks Host, Origin, the size of the headers, the caller's token and the rate limit. Every HTTP request for the MCP
 * endpoint passes it (`RequestChecks`), stateless or in a session, before its body is read.
 */
import type { Admission, Auth, AuthContext, AuthRefusal } from '../auth/auth.ts'
import { tokenHeader } from '../auth/token-header.ts'
import { isA } from '../definition/error-text.ts'
import { ANSWER_TIMEOUT_MS, TimeoutError, withTimeout } from '../definition/timeout.ts'
import type { Admitted, Recheck, Refusal } from '../protocol/engine-options.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import type { Access, Caller } from '../request/access.ts'
import { parseHost, reachOf } from '../request/address.ts'
import { NO_VARIABLES } from '../request/connection.ts'
import { hasExpired } from '../request/expiry.ts'
import type { ReportError } from '../request/options.ts'
import { givenRequest, type RequestPlatform } from '../request/platform.ts'
import { CORS_HEADERS } from './cors.ts'
import { type GuardOptions, refusedHeader } from './host-and-origin.ts'
import { servedHosts } from './hosts.ts'
import { callerAddress, type PublicUrlOptions, publicHost, resourceLocation } from './public-url.ts'
import { refusal } from './refusal.ts'
import { sentRequestId } from './request-id.ts'
import type { Traffic } from './traffic.ts'

export interface AdmissionOptions extends GuardOptions, PublicUrlOptions {
  /** Accepted hosts. Undefined: `MAYFLY_ALLOWED_HOSTS`, else any. */
  readonly allowedHosts: readonly string[] | undefined
  /** Undefined: the size of the headers is not checked. */
  readonly maxHeaderBytes: number | undefined
  /** Checks the callers' tokens. Undefined: no authentication. */
  readonly auth: Auth | undefined
  /** The `id` of the server, for `auth`. Undefined: it has none. */
  readonly serverId: string | undefined
  /** What a caller may use that nobody has identified. Undefined: everything. */
  readonly unknownAccess: Access | undefined
  readonly reportError: ReportError
}

/** An HTTP request that has not been checked yet. */
export interface Received extends Omit<Admitted, 'auth' | 'access'> {
  readonly isHttp: true
}

/** Sent with every response. */
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const

const PROXY_HEADERS = ['x-forwarded-for', 'forwarded', 'via']

const VARIABLES_WARNING =
  'MAYFLY_ALLOWED_HOSTS and MAYFLY_SECRET are ignored: only the serve() of an adapter reads variables. Use it, or set http.allowedHosts and secret.'

const PROXY_WARNING =
  'Requests come through a proxy, so http.rateLimiter cannot tell callers without a token apart and counts them as one: set http.trustProxy if that proxy sets X-Forwarded-For.'

export function receive(request: Request, platform: RequestPlatform, reportError: ReportError): Received {
  const requestId = crypto.randomUUID()
  const sentId = sentRequestId(request) ?? requestId
  return {
    request,
    platform,
    requestId,
    startedAt: Date.now(),
    isHttp: true,
    counted: { messages: 0 },
    waitUntil: (promise) => outlive(promise, platform, requestId, reportError),
    headers: request.headers.has('origin')
      ? { ...SECURITY_HEADERS, ...CORS_HEADERS, 'x-request-id': sentId }
      : { ...SECURITY_HEADERS, 'x-request-id': sentId },
  }
}

/** Reports once if requests come from other machines without an adapter, which alone reads the variables of the process. */
export function createVariablesWatch(reportError: ReportError): (received: Received) => void {
  let hasWarned = false
  return ({ platform: { env, loopback }, requestId }) => {
    if (env !== NO_VARIABLES || loopback === true || hasWarned) return
    hasWarned = true
    reportError(new Error(VARIABLES_WARNING), { requestId })
  }
}

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

/** Checks Host, Origin and the size of the headers. Runs before the token is checked. */
export function refuseUnguarded(received: Received, options: AdmissionOptions): BufferedReply | undefined {
  const { request, platform, headers } = received
  const { maxHeaderBytes } = options
  const allowedHosts = servedHosts(options.allowedHosts, platform.env)
  const refused = refusedHeader(request, platform.loopback === true, allowedHosts, options)
  if (refused !== undefined)
    return refusal(403, REFUSED[refused](request, options.trustProxy), SECURITY_HEADERS)
  if (maxHeaderBytes !== undefined && headerBytes(request.headers) > maxHeaderBytes) {
    return refusal(431, `The headers are larger than ${maxHeaderBytes} bytes.`, headers)
  }
  return undefined
}

/** Checks the caller's token and rate limit. Counts refused tokens. */
export function createAdmitCaller(
  options: AdmissionOptions,
  traffic: Traffic,
): (received: Received) => Admitted | BufferedReply | Promise<Admitted | BufferedReply> {
  const { auth, serverId, reportError, trustProxy, unknownAccess } = options

  const contextOf = ({ request, platform, waitUntil }: Received): AuthContext => ({
    env: platform.env,
    server: serverId,
    waitUntil,
    location: () => resourceLocation(request, platform, options),
    request: () => givenRequest(request, platform),
  })

  const decide = async (received: Received): Promise<Admitting> => {
    const { request, platform } = received
    if (auth === undefined) return askHost(platform)
    const context = contextOf(received)
    if (platform.callerReplacesAuth !== true) return auth.admit(request, context)
    // A test passes the caller as data, not as a function.
    const caller = typeof platform.caller === 'function' ? undefined : platform.caller
    return (caller?.auth && auth.admitCaller?.(caller.auth, context)) ?? admitHostCaller(caller)
  }

  const refuseCaller = (
    { status, message, headers, cause }: AuthRefusal,
    { headers: own, requestId }: Received,
  ): BufferedReply => {
    if (cause !== undefined) reportError(cause, { requestId, auth: true })
    return refusal(status, message, { ...own, ...headers })
  }

  /** The same decision for a stream that this request has opened. Undefined: it is not taken again. */
  const recheckOf = (received: Received): Recheck | undefined => {
    if (auth?.recheckMs === undefined || received.platform.callerReplacesAuth === true) return undefined
    const verdict: Recheck['verdict'] = async () => {
      try {
        const again = await auth.admit(received.request, contextOf(received))
        return again.ok ? 'admitted' : again.refusal.status === 503 ? 'unknown' : 'refused'
      } catch {
        // The caller's next request reports it.
        return 'unknown'
      }
    }
    return { everyMs: auth.recheckMs, verdict }
  }

  let hasWarned = false
  const warnOfProxy = ({ request: { headers }, platform, requestId }: Received): void => {
    if (hasWarned || trustProxy || !PROXY_HEADERS.some((name) => headers.has(name))) return
    const address = callerAddress(headers, platform, trustProxy)
    if (address === undefined || reachOf(address) === 'public') return
    hasWarned = true
    reportError(new Error(PROXY_WARNING), { requestId, rateLimiter: true })
  }

  const admitCounted = async (received: Received): Promise<Admitted | BufferedReply> => {
    const { request, platform, headers } = received
    const { env } = platform
    const isCounted = traffic.counts(env)
    const sent = isCounted ? request.headers.get(tokenHeader(request, auth ?? {})) : null
    // With more blanks, or in capitals, it is the same token.
    const token = sent?.replace(/^bearer +/i, '') ?? null
    const blocked = token === null ? undefined : await traffic.whileBlocked(token)
    if (blocked !== undefined) return refuseTraffic(blocked, headers)
    const admission = await decide(received)
    if (!admission.ok) {
      const { status } = admission.refusal
      // A request without a token costs nothing, and 503 is not the caller's fault.
      const overRate =
        token === null || status === 503
          ? undefined
          : await traffic.countFailure({ token, sender: received, isGenuine: status === 403 })
      return overRate === undefined
        ? refuseCaller(admission.refusal, received)
        : refuseTraffic(overRate, headers)
    }
    if (isCounted && admission.auth === undefined) warnOfProxy(received)
    const recheck = admission.auth && recheckOf(received)
    const admitted: Admitted = {
      ...received,
      auth: admission.auth,
      access: admission.access ?? unknownAccess,
      ...(recheck && { recheck }),
    }
    if (!isCounted) return admitted
    const overRate = await traffic.count(admitted)
    if (overRate !== undefined) return refuseTraffic(overRate, headers)
    admitted.counted.messages = 1
    return admitted
  }

  return (received) => {
    const { caller, env } = received.platform
    if (auth !== undefined || typeof caller === 'function' || (!traffic.isUnlimited && traffic.counts(env)))
      return admitCounted(received)
    if (caller === undefined) return { ...received, auth: undefined, access: unknownAccess }
    const admission = admitHostCaller(caller)
    if (!admission.ok) return refuseCaller(admission.refusal, received)
    return { ...received, auth: admission.auth, access: admission.access ?? unknownAccess }
  }
}

/** `access` is undefined unless the host authenticates callers. */
type Admitting = Admission | ({ readonly ok: true } & Pick<Admitted, 'auth' | 'access'>)

const EXPIRED: Admission = {
  ok: false,
  refusal: {
    status: 401,
    message: 'The token has expired.',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  },
}

function unidentified(cause?: Error): Admission {
  const message = 'The app did not identify the caller: try again later.'
  return {
    ok: false,
    refusal: { status: 503, message, headers: { 'retry-after': '5' }, ...(cause && { cause }) },
  }
}

async function askHost({ caller }: RequestPlatform): Promise<Admitting> {
  if (typeof caller !== 'function') return admitHostCaller(caller)
  let found: Caller | undefined
  try {
    found = await withTimeout(caller(), ANSWER_TIMEOUT_MS, 'app that authenticates callers')
  } catch (error) {
    if (isA(error, TimeoutError)) return unidentified(error)
    throw error
  }
  return found === undefined ? unidentified() : admitHostCaller(found)
}

/** The caller that the host has authenticated, if any. */
function admitHostCaller(caller: Caller | undefined): Admitting {
  const { auth, access } = caller ?? {}
  return auth !== undefined && hasExpired(auth) ? EXPIRED : { ok: true, auth, access }
}

export function refuseTraffic(
  { status, message, headers }: Refusal,
  own: { readonly [name: string]: string },
): BufferedReply {
  return refusal(status, message, { ...own, ...headers })
}

/** Lets work continue after its response. Errors are reported even if the platform does not wait for the work. */
function outlive(
  promise: Promise<unknown>,
  { waitUntil }: RequestPlatform,
  requestId: string,
  reportError: ReportError,
): void {
  const report = (error: unknown): void => reportError(error, { requestId, waitUntil: true })
  const guarded = Promise.resolve(promise).catch(report)
  try {
    waitUntil?.(guarded)
  } catch (error) {
    // Some platforms throw in `waitUntil` once the response is sent.
    report(error)
  }
}

/** A header string has one character per byte (Fetch standard, "isomorphic decode"). */
function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}
