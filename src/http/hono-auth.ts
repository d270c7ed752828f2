/** Authorization as Hono middleware, for routes that are not an `MCPServer`: those of an official SDK transport, or of a REST API. */

import type { Auth } from '../auth/auth.ts'
import { bearerChallenge } from '../auth/challenge.ts'
import type { AuthInfo } from '../definition/context.ts'
import { toReadable } from '../definition/error-text.ts'
import { callHook } from '../definition/hook.ts'
import { withPart } from '../definition/part.ts'
import { printError } from '../definition/print-error.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { errorMessage } from '../protocol/json-rpc.ts'
import { jsonReply, toResponse } from '../protocol/reply.ts'
import { CORS_HEADERS } from './cors.ts'
import { callerAddress } from './forwarded.ts'
import { requireNoServer } from './known-callers.ts'
import { loadOther } from './load-other.ts'
import { preflightResponse } from './preflight.ts'
import { createTlsWatch, describedResource, resourceLocation } from './public-url.ts'

/** The part of Hono's context that is used. */
interface HonoContext {
  readonly req: { readonly raw: Request }
  readonly env: unknown
  set(key: 'auth', value: AuthInfo | undefined): void
}

/** Options of `honoAuth`. */
export interface HonoAuthOptions {
  /** The URL of the protected endpoint as clients see it, `https://shop.example/mcp`. Default: the URL of the request. */
  publicUrl?: string
  /** Set it if your own proxy sets `X-Forwarded-Host`, `-Proto` and `-Prefix`. Default false: these headers are not read. */
  trustProxy?: boolean
  /**
   * Lets a caller without a token through if `auth` has an `anonymous` subset; the route must then check what is requested.
   * Default false: the subset names tools, prompts and resources, which the middleware cannot check.
   */
  allowAnonymous?: boolean
  /** Called with the reason why a token could not be checked. Default: logs to the console. */
  onError?: (error: unknown) => void
}

const OPTIONS: Names<HonoAuthOptions> = {
  publicUrl: 'string',
  trustProxy: 'boolean',
  allowAnonymous: 'boolean',
  onError: 'function',
}

/** The variables that the middleware sets, for `new Hono<{ Variables: HonoAuthVariables }>()`. */
export interface HonoAuthVariables {
  /** Undefined for an anonymous caller. */
  auth: AuthInfo | undefined
}

/**
 * Admits the callers that `auth` admits, with `c.get('auth')` set, and answers others with 401 or 403 and
 * `WWW-Authenticate` (RFC 6750 §3). Always requires a token, unless `allowAnonymous` is set. Serves the metadata (RFC 9728) if it
 * is mounted before `/.well-known/oauth-protected-resource`, and the paths of an `auth` that has some. Answers CORS preflights for the headers of MCP: for others, put Hono's
 * `cors()` before it. Does not check the scopes of single tools.
 *
 * ```ts
 * const protect = honoAuth(jwt({ issuer, audience }))
 * app.use('/.well-known/oauth-protected-resource/*', protect)
 * app.use('/mcp', protect)
 * ```
 */
export function honoAuth(
  auth: Auth,
  given: HonoAuthOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  if (typeof auth?.admit !== 'function')
    throw new TypeError('honoAuth needs what checks tokens: jwt({ … }) or another of mayfly-mcp/auth.')
  refuseUnknown('honoAuth', given, OPTIONS)
  requireNoServer('honoAuth', auth)
  const { publicUrl, trustProxy = false, allowAnonymous = false, onError = printError } = given
  const options = { publicUrl, trustProxy, allowedHosts: undefined }
  const watchTls = createTlsWatch((error) => callHook(() => onError(error), printError))
  return async (context, next) => {
    const { env, req } = context
    const request = req.raw
    const location = () => resourceLocation(request, { env }, options)
    const report = (error: unknown): void => callHook(() => onError(error), printError)
    const address = callerAddress(request.headers, {}, trustProxy)
    const answer = auth.serve?.(request, { env, location, report, ...(address !== undefined && { address }) })
    if (answer !== undefined) {
      const served = { request, platform: { env } }
      return toResponse(
        await withPart(loadOther, ({ answerWithin }) => answerWithin(answer, served, { ...LIMITS, report })),
      )
    }
    const preflight = preflightMethod(request)
    if (preflight !== undefined) return toResponse(preflightResponse(request, preflight))
    const cors = request.headers.has('origin') ? CORS_HEADERS : undefined
    if (request.method === 'GET' || request.method === 'HEAD') {
      const described = describedResource(request, { env }, options)
      if (described !== undefined) {
        watchTls(described.resource)
        return toResponse(jsonReply(JSON.stringify(auth.metadata(described)), 200, { ...cors }))
      }
    }
    const admit = async () => auth.admit(request, { env, location, isTokenRequired: !allowAnonymous })
    const admission = await admit().catch((error: unknown) => {
      throw toReadable(error)
    })
    if (!admission.ok) {
      const { status, message, headers, cause } = admission.refusal
      if (cause !== undefined) callHook(() => onError(cause), printError)
      return refusal(status, message, { ...cors, ...headers })
    }
    const { cause } = admission
    if (cause !== undefined) callHook(() => onError(cause), printError)
    if (admission.auth === undefined && !allowAnonymous) {
      // A custom `auth` without a challenge.
      const challenge = bearerChallenge({ metadataUrl: location().metadataUrl })
      return refusal(401, NO_TOKEN, { ...cors, 'www-authenticate': challenge })
    }
    context.set('auth', admission.auth)
    await next()
    return undefined
  }
}

/** Of a request for a path of `auth`. */
const LIMITS = { maxBodyBytes: 65_536, bodyTimeoutMs: 30_000 }

const NO_TOKEN = 'Unauthorized: send an access token as a Bearer token.'

/** The method that a CORS preflight announces (Fetch standard, "CORS-preflight request"); undefined for any other request. */
function preflightMethod({ method, headers }: Request): string | undefined {
  const asked = headers.get('access-control-request-method')
  if (method !== 'OPTIONS' || asked === null || !headers.has('origin')) return undefined
  return /^[\w-]+$/.test(asked) ? asked : 'POST'
}

function refusal(status: number, message: string, headers: { readonly [name: string]: string }): Response {
  const text = errorMessage(undefined, { code: ErrorCode.invalidRequest, message })
  return toResponse(jsonReply(text, status, headers))
}
