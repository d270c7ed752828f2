/** What is known of an HTTP request before it is checked. */
import type { Auth } from '../auth/auth.ts'
import type { Admitted } from '../protocol/engine-options.ts'
import type { Access } from '../request/access.ts'
import { NO_VARIABLES } from '../request/connection.ts'
import type { Extensions } from '../request/extension.ts'
import type { ReportError } from '../request/options.ts'
import type { RequestPlatform } from '../request/platform.ts'
import { CORS_HEADERS } from './cors.ts'
import type { GuardOptions } from './host-and-origin.ts'
import type { PublicUrlOptions } from './public-url.ts'
import { sentRequestId } from './request-id.ts'

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
  /** What answers a request for a path beside the endpoint, besides `auth`. Undefined: nothing. */
  readonly routes?: Extensions['serve']
}

/** An HTTP request that has not been checked yet. */
export interface Received extends Omit<Admitted, 'auth' | 'access'> {
  readonly isHttp: true
  /** Its `Origin`; null without one. */
  readonly origin: string | null
}

/** Sent with every response. */
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const

const VARIABLES_WARNING =
  'MAYFLY_ALLOWED_HOSTS and MAYFLY_SECRET are ignored: only the serve() of an adapter reads variables. Use it, or set http.allowedHosts and secret.'

export function receive(request: Request, platform: RequestPlatform, reportError: ReportError): Received {
  const requestId = crypto.randomUUID()
  const { headers: sent } = request
  const origin = sent.get('origin')
  const givenId = sent.get('x-request-id')
  const sentId = givenId === null ? requestId : (sentRequestId(givenId) ?? requestId)
  return {
    request,
    sent,
    origin,
    platform,
    requestId,
    startedAt: Date.now(),
    isHttp: true,
    counted: { messages: 0 },
    waitUntil: (promise) => outlive(promise, platform, requestId, reportError),
    headers:
      origin === null
        ? { ...SECURITY_HEADERS, 'x-request-id': sentId }
        : { ...SECURITY_HEADERS, ...CORS_HEADERS, 'x-request-id': sentId },
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
