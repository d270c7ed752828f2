/**
 * `createOAuthMiddleware`, as in Mastra: lets Node requests with a valid token through, and answers all others.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Admission, AuthRefusal } from '../../src/auth/auth.ts'
import { locationOf, METADATA_PATH } from '../../src/auth/location.ts'
import { CORS_HEADERS } from '../../src/http/cors.ts'
import { type OAuthConfig, oauth, type TokenValidationResult } from '../../src/mastra/validate-token.ts'

/** Options of `createOAuthMiddleware`. */
export interface OAuthMiddlewareOptions {
  oauth: OAuthConfig
  /** Requests below this path need a token. Default: `/mcp`, and the path of `resource`. */
  mcpPath?: string
}

/** The outcome of the middleware: `proceed` says whether to serve the request. */
export interface OAuthMiddlewareResult {
  proceed: boolean
  /** Whether the response has been sent. */
  handled: boolean
  tokenValidation?: TokenValidationResult
}

const OPEN = { ...CORS_HEADERS, 'access-control-allow-headers': '*' }

/**
 * Checks the token of each request below `mcpPath`, and serves the protected resource metadata (RFC 9728). Sets `req.auth`, which
 * `startHTTP` and `nodeListener` pass on as `ctx.auth`. On every other platform, write `auth: oauth({ … })` in the server instead.
 *
 * ```ts
 * const result = await oauthMiddleware(req, res, url)
 * if (!result.proceed) return
 * ```
 *
 * @throws TypeError for a configuration without `resource` or `validateToken`, and for an `mcpPath` that is not a path.
 */
export function createOAuthMiddleware({
  oauth: config,
  mcpPath,
}: OAuthMiddlewareOptions): (
  req: IncomingMessage,
  res: ServerResponse,
  url: URL,
) => Promise<OAuthMiddlewareResult> {
  const auth = oauth(config)
  const { pathname } = new URL(config.resource)
  const guarded = (mcpPath === undefined ? ['/mcp', pathname] : [mcpPath]).map(toPrefix)
  const location = locationOf(config.resource)
  const metadataPath = new URL(location.metadataUrl).pathname
  /** An error of `validateToken` is a server error: the caller is refused with 503. */
  const admit = async (request: Request): Promise<Admission> => {
    try {
      return await auth.admit(request, { env: process.env, location: () => location })
    } catch (cause) {
      return {
        ok: false,
        refusal: { status: 503, message: 'The token could not be checked.', headers: {}, cause },
      }
    }
  }
  return async (req, res, url) => {
    if (url.pathname === METADATA_PATH || url.pathname === metadataPath) {
      send(res, 200, OPEN, auth.metadata(location))
      return { proceed: false, handled: true }
    }
    const isGuarded = guarded.some((prefix) => url.pathname.startsWith(prefix))
    // A CORS preflight never has a token (Fetch standard, "CORS-preflight request").
    const isPreflight = req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined
    if (!isGuarded || isPreflight) return { proceed: true, handled: false }
    const { authorization } = req.headers
    const request = new Request(config.resource, {
      headers: authorization === undefined ? {} : { authorization },
    })
    const admission = await admit(request)
    if (!admission.ok) {
      refuse(res, admission.refusal)
      const error = admission.refusal.status === 503 ? 'server_error' : 'invalid_token'
      return { proceed: false, handled: true, tokenValidation: { valid: false, error } }
    }
    const { scopes = [], expiresAt, extra } = admission.auth ?? {}
    // `nodeListener` and `startHTTP` pass this on to the tools.
    Object.assign(req, { auth: admission.auth })
    return {
      proceed: true,
      handled: false,
      tokenValidation: {
        valid: true,
        scopes,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(extra !== undefined && { claims: extra }),
      },
    }
  }
}

/** Removes the trailing slash, which a client may leave out. */
function toPrefix(path: string): string {
  if (!path.startsWith('/'))
    throw new TypeError(`"mcpPath" must be a path such as "/mcp", not ${JSON.stringify(path)}.`)
  return path.replace(/\/+$/, '')
}

function refuse(res: ServerResponse, { status, message, headers, cause }: AuthRefusal): void {
  if (cause !== undefined) console.error(cause)
  const error = status === 503 ? 'temporarily_unavailable' : 'unauthorized'
  send(res, status, { ...CORS_HEADERS, ...headers }, { error, error_description: message })
}

function send(res: ServerResponse, status: number, headers: object, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  res.end(JSON.stringify(body))
}
