/** Identifies the caller of a request and counts it: by `auth`, or by the app around the server. */
import type { Admission, Auth, AuthContext, AuthRefusal } from '../auth/auth.ts'
import { tokenHeader } from '../auth/token-header.ts'
import { isA } from '../definition/error-text.ts'
import { ANSWER_TIMEOUT_MS, TimeoutError, withTimeout } from '../definition/timeout.ts'
import type { Admitted, Recheck } from '../protocol/engine-options.ts'
import type { BufferedReply } from '../protocol/reply.ts'
import type { Caller } from '../request/access.ts'
import { reachOf } from '../request/address.ts'
import { hasExpired } from '../request/expiry.ts'
import { givenRequest, type RequestPlatform } from '../request/platform.ts'
import type { AdmissionOptions, Received } from './admission.ts'
import { callerAddress } from './forwarded.ts'
import { resourceLocation } from './public-url.ts'
import { refusal } from './refusal.ts'
import { refuseTraffic } from './refusals.ts'
import type { Traffic } from './traffic.ts'

const PROXY_HEADERS = ['x-forwarded-for', 'forwarded', 'via']

const PROXY_WARNING =
  'Requests come through a proxy, so http.rateLimiter cannot tell callers without a token apart and counts them as one: set http.trustProxy if that proxy sets X-Forwarded-For.'

/** Never rejects for what the caller sent. */
export type AdmitCaller = (received: Received) => Admitted | BufferedReply | Promise<Admitted | BufferedReply>

/** Checks the caller's token and rate limit. Counts refused tokens. */
export function createAdmitCaller(options: AdmissionOptions, traffic: Traffic): AdmitCaller {
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
  const recheckOf = (received: Received, judge: Auth | undefined): Recheck | undefined => {
    if (judge?.recheckMs === undefined || received.platform.callerReplacesAuth === true) return undefined
    const verdict: Recheck['verdict'] = async () => {
      try {
        const again = await judge.admit(received.request, contextOf(received))
        return again.ok ? 'admitted' : again.refusal.status === 503 ? 'unknown' : 'refused'
      } catch {
        // The caller's next request reports it.
        return 'unknown'
      }
    }
    return { everyMs: judge.recheckMs, verdict }
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
    const { by, cause } = admission
    if (cause !== undefined) reportError(cause, { requestId: received.requestId, auth: true })
    const recheck = admission.auth && recheckOf(received, by ?? auth)
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
    if (auth !== undefined || typeof caller === 'function' || traffic.counts(env))
      return admitCounted(received)
    if (caller === undefined) return { ...received, auth: undefined, access: unknownAccess }
    const admission = admitHostCaller(caller)
    if (!admission.ok) return refuseCaller(admission.refusal, received)
    return { ...received, auth: admission.auth, access: admission.access ?? unknownAccess }
  }
}

/** `access` is undefined unless the host authenticates callers. */
type Admitting =
  | Exclude<Admission, { ok: true }>
  | (Pick<Extract<Admission, { ok: true }>, 'ok' | 'by' | 'cause'> & Pick<Admitted, 'auth' | 'access'>)

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
