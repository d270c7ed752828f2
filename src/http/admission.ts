/**
 * Who is let in: Host, Origin and headers, the caller's token, and their count. The one way in for every HTTP request that is for
 * the MCP endpoint, stateless or in a session; nothing of the body is read before.
 */
import type { Admission, Auth, AuthRefusal } from '../auth/auth.ts'
import type { Admitted, Refusal } from '../protocol/engine-options.ts'
import type { Whole } from '../protocol/reply.ts'
import type { ReportError } from '../request/options.ts'
import { givenRequest, type RequestPlatform } from '../request/platform.ts'
import { CORS_HEADERS } from './cors.ts'
import { type GuardOptions, isAllowed } from './guard.ts'
import { servedHosts } from './hosts.ts'
import { callerAddress, type PublicUrlOptions, resourceLocation } from './public-url.ts'
import { refusal } from './refusal.ts'
import { callerKey, type Traffic } from './traffic.ts'

export interface AdmissionOptions extends GuardOptions, PublicUrlOptions {
  /** Undefined: headers are not measured. */
  readonly maxHeaderBytes: number | undefined
  /** Who checks the callers; undefined: everybody is let in. */
  readonly auth: Auth | undefined
  readonly reportError: ReportError
}

/** An HTTP request before anything of it is believed. */
export interface Received extends Omit<Admitted, 'auth' | 'access'> {
  readonly isHttp: true
}

/** Of every answer. */
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const

/** A client's id for its request is taken over where it cannot harm a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/

export function receive(request: Request, platform: RequestPlatform, reportError: ReportError): Received {
  const sentId = request.headers.get('x-request-id')
  const requestId = sentId !== null && REQUEST_ID.test(sentId) ? sentId : crypto.randomUUID()
  return {
    request,
    platform,
    requestId,
    startedAt: Date.now(),
    isHttp: true,
    counted: { messages: 0 },
    waitUntil: (promise) => outlive(promise, platform, requestId, reportError),
    headers: {
      ...SECURITY_HEADERS,
      ...(request.headers.has('origin') && CORS_HEADERS),
      'x-request-id': requestId,
    },
  }
}

/** Host, Origin and the size of the headers: what is refused before anybody is asked. */
export function refuseUnguarded(received: Received, options: AdmissionOptions): Whole | undefined {
  const { request, platform, headers } = received
  const { allowedOrigins, trustProxy, maxHeaderBytes } = options
  const allowedHosts = servedHosts(options.allowedHosts, platform.env)
  const guard = { allowedHosts, allowedOrigins, trustProxy }
  if (!isAllowed(request.headers, request.url, platform.loopback === true, guard)) {
    return refusal(403, 'Forbidden: this server does not serve that Host or Origin.', SECURITY_HEADERS)
  }
  if (maxHeaderBytes !== undefined && headerBytes(request.headers) > maxHeaderBytes) {
    return refusal(431, `The headers are larger than ${maxHeaderBytes} bytes.`, headers)
  }
  return undefined
}

/**
 * The caller's token, and their count. Callers who are refused are counted, too, by their address: tokens cannot be guessed freely.
 */
export function createAdmit(
  options: AdmissionOptions,
  traffic: Traffic,
): (received: Received) => Admitted | Whole | Promise<Admitted | Whole> {
  const { auth, reportError, trustProxy } = options

  const verify = (verifier: Auth, { request, platform }: Received): Promise<Admission> =>
    verifier.admit(request, {
      env: platform.env,
      location: () => resourceLocation(request, platform, options),
      request: () => givenRequest(request, platform),
    })

  const refuseCaller = (
    { status, message, headers, cause }: AuthRefusal,
    { headers: own, requestId }: Received,
  ): Whole => {
    if (cause !== undefined) reportError(cause, { requestId, auth: true })
    return refusal(status, message, { ...own, ...headers })
  }

  const admitCounted = async (received: Received): Promise<Admitted | Whole> => {
    const { request, platform, headers } = received
    const { env } = platform
    const isCounted = traffic.counts(env)
    const address = isCounted ? callerAddress(request.headers, platform, trustProxy) : undefined
    const byAddress = callerKey(undefined, address)
    // Callers without an address cannot be told apart: one of them must not block them all.
    const blocked = address === undefined ? undefined : traffic.whileBlocked(byAddress)
    if (blocked !== undefined) return refuseTraffic(blocked, headers)
    const admission =
      auth === undefined ? { ok: true as const, ...hostCaller(platform) } : await verify(auth, received)
    if (!admission.ok) {
      const overRate = isCounted ? await traffic.countFailure(byAddress, env) : undefined
      return overRate === undefined
        ? refuseCaller(admission.refusal, received)
        : refuseTraffic(overRate, headers)
    }
    const admitted: Admitted = { ...received, auth: admission.auth, access: admission.access }
    if (!isCounted) return admitted
    const caller = admission.auth === undefined ? byAddress : callerKey(admission.auth, undefined)
    const overRate = await traffic.count(caller, env)
    if (overRate !== undefined) return refuseTraffic(overRate, headers)
    admitted.counted.messages = 1
    return admitted
  }

  return (received) =>
    auth === undefined && !traffic.counts(received.platform.env)
      ? { ...received, ...hostCaller(received.platform) }
      : admitCounted(received)
}

/** Without `auth`: whom the host has let in. */
function hostCaller({ caller }: RequestPlatform): Pick<Admitted, 'auth' | 'access'> {
  return { auth: caller?.auth, access: caller?.access }
}

export function refuseTraffic(
  { status, message, headers }: Refusal,
  own: { readonly [name: string]: string },
): Whole {
  return refusal(status, message, { ...own, ...headers })
}

/** Work that may outlive its response. What it throws is reported, whether the platform waits for it or not. */
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
    // Some platforms take nothing more once the response is there.
    report(error)
  }
}

/** What HTTP gives us of a header are bytes as characters (Fetch standard, "isomorphic decode"). */
function headerBytes(headers: Headers): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}
