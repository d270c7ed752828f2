/**
 * `createOAuthMiddleware`, as in Mastra: lets Node requests with a valid token through, and answers all others.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Admission, AuthRefusal } from '../../src/auth/auth.ts'
import { locationOf, METADATA_PATH } from '../../src/auth/location.ts'
import { printError } from '../../src/definition/print-error.ts'
import { type Names, requireOptions } from '../../src/definition/unknown-option.ts'
import { CORS_HEADERS } from '../../src/http/cors.ts'
import { type OAuthConfig, oauth, type TokenValidationResult } from '../../src/mastra/validate-token.ts'

/** Options of `createOAuthMiddleware`. */
export interface OAuthMiddlewareOptions {
  oauth: OAuthConfig
  /**
   * Paths that `GET` and `HEAD` may read without a token, compared as they are: `['/healthz']`. Default: none but the metadata. Routes that
   * take other methods without a token go before the middleware.
   */
  openPaths?: readonly string[]
  /** Accepted for compatibility. Every path needs a token, not only those below this one: a server answers on every path. */
  mcpPath?: string
}

const OPTIONS: Names<OAuthMiddlewareOptions> = { oauth: 'object', openPaths: 'strings', mcpPath: 'string' }

/** The outcome of the middleware: `proceed` says whether to serve the request. */
export interface OAuthMiddlewareResult {
  proceed: boolean
  /** Whether the response has been sent. */
  handled: boolean
  tokenValidation?: TokenValidationResult
}

const OPEN = { ...CORS_HEADERS, 'access-control-allow-headers': '*' }

/**
 * Checks the token of each request, whatever its path, and serves the protected resource metadata (RFC 9728). Sets `req.auth`, which
 * `startHTTP` and `nodeListener` pass on as `ctx.auth`. On every other platform, write `auth: oauth({ … })` in the server instead.
 *
 * ```ts
 * const result = await oauthMiddleware(req, res, url)
 * if (!result.proceed) return
 * ```
 *
 * @throws TypeError for a configuration without `resource`, `authorizationServers` or `validateToken`, and for a path that does not begin with `/`.
 */
export function createOAuthMiddleware(
  options: OAuthMiddlewareOptions,
): (req: IncomingMessage, res: ServerResponse, url: URL) => Promise<OAuthMiddlewareResult> {
  requireOptions('createOAuthMiddleware', options, OPTIONS)
  const { oauth: config, openPaths = [], mcpPath = '/mcp' } = options
  const auth = oauth(config)
  checkPaths('mcpPath', [mcpPath])
  checkPaths('openPaths', openPaths)
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
    // Only reads: a POST to any path may be a call of a tool.
    const isOpen = (req.method === 'GET' || req.method === 'HEAD') && openPaths.includes(url.pathname)
    // A CORS preflight never has a token (Fetch standard, "CORS-preflight request").
    const isPreflight = req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined
    if (isOpen || isPreflight) return { proceed: true, handled: false }
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

function checkPaths(option: string, paths: readonly string[]): void {
  for (const path of paths) {
    if (path.startsWith('/')) continue
    throw new TypeError(`"${option}" must be a path such as "/mcp", not ${JSON.stringify(path)}.`)
  }
}

function refuse(res: ServerResponse, { status, message, headers, cause }: AuthRefusal): void {
  if (cause !== undefined) printError(cause)
  const error = status === 503 ? 'temporarily_unavailable' : 'unauthorized'
  send(res, status, { ...CORS_HEADERS, ...headers }, { error, error_description: message })
}

function send(res: ServerResponse, status: number, headers: object, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  res.end(JSON.stringify(body))
}
