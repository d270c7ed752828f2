/**
 * Authorization as Hono middleware, for routes that are no `MCPServer`: those of an official SDK transport, or of a REST API
 * beside it.
 */
import type { Auth, AuthContext } from '../auth/auth.ts'
import type { AuthInfo } from '../definition/context.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import { jsonResponse } from '../protocol/exchange.ts'
import { errorMessage } from '../protocol/json-rpc.ts'
import { CORS_HEADERS } from './cors.ts'
import { describedResource, resourceLocation } from './public-url.ts'

/** What is used of Hono's context. */
interface HonoContext {
  readonly req: { readonly raw: Request }
  readonly env: unknown
  set(key: 'auth', value: AuthInfo | undefined): void
}

export interface HonoAuthOptions {
  /** The URL of the protected endpoint as clients see it, `https://shop.example/mcp`. Default: that of the request. */
  publicUrl?: string
  /** A proxy of your own sets `X-Forwarded-Host`, `-Proto` and `-Prefix`. Default false: they are not read. */
  trustProxy?: boolean
  /** Told why a token could not be checked. Default: the console. */
  onError?: (error: unknown) => void
}

/** The variables that the middleware sets, for `new Hono<{ Variables: HonoAuthVariables }>()`. */
export interface HonoAuthVariables {
  /** Undefined for an anonymous caller. */
  auth: AuthInfo | undefined
}

/**
 * Lets through whom `auth` admits, with `c.get('auth')` set, and answers everybody else: 401 and 403 with
 * `WWW-Authenticate` (RFC 6750 §3). Answers the metadata (RFC 9728) where it stands before
 * `/.well-known/oauth-protected-resource`. CORS preflights are let through. Scopes of single tools are not its affair.
 *
 * ```ts
 * const protect = honoAuth(jwt({ issuer, audience }))
 * app.use('/.well-known/oauth-protected-resource/*', protect)
 * app.use('/mcp', protect)
 * ```
 */
export function honoAuth(
  auth: Auth,
  { publicUrl, trustProxy = false, onError = console.error }: HonoAuthOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  const location = { publicUrl, trustProxy, allowedHosts: undefined }
  return async (context, next) => {
    const { env, req } = context
    const request = req.raw
    const cors = request.headers.has('origin') ? CORS_HEADERS : undefined
    if (request.method === 'GET') {
      const described = describedResource(request, { env }, location)
      if (described !== undefined) {
        return jsonResponse(JSON.stringify(auth.metadata(described)), 200, { ...cors })
      }
    }
    if (request.method !== 'OPTIONS') {
      const caller: AuthContext = { env, location: () => resourceLocation(request, { env }, location) }
      const admission = await auth.admit(request, caller)
      if (!admission.ok) {
        const { status, message, headers, cause } = admission.refusal
        if (cause !== undefined) onError(cause)
        const body = errorMessage(undefined, { code: ErrorCode.invalidRequest, message })
        return jsonResponse(body, status, { ...cors, ...headers })
      }
      context.set('auth', admission.auth)
    }
    await next()
    return undefined
  }
}
