/**
 * Authorization as Mastra configures it: a `validateToken(token, resource)` that answers `{ valid, … }`. Each is a thin wrapper of what
 * is here anyway.
 */
import type { Auth } from './auth.ts'
import { createGate } from './gate.ts'
import { createIntrospector } from './introspection.ts'
import { locationOf } from './location.ts'
import { createTokenFinder } from './static-tokens.ts'
import { InvalidTokenError, type TokenAnswer, type Verifier, VerifierUnavailableError } from './verifier.ts'

/** What is known of a token. */
export interface TokenValidationResult {
  valid: boolean
  scopes?: readonly string[]
  /** The user, `ctx.auth.extra.sub`. */
  subject?: string
  /** Seconds since the epoch. */
  expiresAt?: number
  /** `ctx.auth.extra`. */
  claims?: Record<string, unknown>
  /** `server_error`: the token could not be checked, and the client gets 503. Every other code is 401. */
  error?: string
  /** Sent to the client. */
  errorDescription?: string
}

export type ValidateToken = (
  token: string,
  resource: string,
) => Promise<TokenValidationResult> | TokenValidationResult

export interface OAuthConfig {
  /** This server's URL, as clients see it: what a token must be for. */
  resource: string
  authorizationServers: readonly string[]
  /** For the metadata. Default `mcp:read` and `mcp:write`. */
  scopesSupported?: readonly string[]
  /** For people (RFC 9728 `resource_name`). */
  resourceName?: string
  /** Required: without it, tokens would not be checked. It must check that a token was issued for `resource`. */
  validateToken: ValidateToken
}

const DEFAULT_SCOPES = ['mcp:read', 'mcp:write']

/**
 * The `auth` of a server, from the configuration that Mastra's `createOAuthMiddleware` takes.
 *
 * ```ts
 * new MCPServer({ …, auth: oauth({ resource, authorizationServers, validateToken }) })
 * ```
 *
 * @throws TypeError for a configuration without `resource` or `validateToken`.
 */
export function oauth(config: OAuthConfig): Auth {
  const {
    resource,
    authorizationServers,
    scopesSupported = DEFAULT_SCOPES,
    resourceName,
    validateToken,
  } = config
  if (!URL.canParse(resource)) throw new TypeError('oauth needs "resource": the URL of this server.')
  if (typeof validateToken !== 'function') {
    throw new TypeError('oauth needs "validateToken": without it, tokens would not be checked.')
  }
  const verifier: Verifier = {
    authorizationServers,
    verify: async (token) => toAnswer(await validateToken(token, resource)),
  }
  const gate = createGate(verifier, { scopesSupported })
  const own = locationOf(resource)
  return {
    ...gate,
    // The challenge names the metadata of this resource, whatever host the request came to.
    admit: (request, context) => gate.admit(request, { ...context, location: () => own }),
    metadata: (location) => ({ ...gate.metadata({ ...location, resource }), resource_name: resourceName }),
  }
}

const NOT_VALID: TokenValidationResult = { valid: false }

/** A function that forgets to answer lets nobody in. */
function toAnswer(result: TokenValidationResult | undefined): TokenAnswer {
  const { valid, scopes = [], subject, expiresAt, claims, error, errorDescription } = result ?? NOT_VALID
  if (valid !== true) {
    if (error === 'server_error')
      throw new VerifierUnavailableError(errorDescription ?? 'validateToken failed.')
    throw new InvalidTokenError(errorDescription ?? 'The token is not valid.')
  }
  return {
    valid: true,
    scopes,
    extra: { ...claims, ...(subject !== undefined && { sub: subject }) },
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/**
 * Takes these tokens, compared in constant time, each with the scopes `mcp:read` and `mcp:write`.
 *
 * @throws TypeError for a token under 16 characters.
 */
export function createStaticTokenValidator(tokens: readonly string[]): ValidateToken {
  const find = createTokenFinder(tokens.map((token) => ({ token })))
  return async (token) =>
    (await find(token, undefined)) === undefined
      ? { valid: false, error: 'invalid_token', errorDescription: 'The token is not known.' }
      : { valid: true, scopes: DEFAULT_SCOPES }
}

/**
 * Asks the issuer about each token (RFC 7662), as `introspection` does: over https, with an answer remembered for 30 seconds. A token
 * whose `aud` does not name this server is not valid.
 *
 * @throws TypeError without credentials, and for an endpoint without TLS.
 */
export function createIntrospectionValidator(
  endpoint: string,
  credentials: { clientId: string; clientSecret: string },
): ValidateToken {
  const introspectors = new Map<string, (token: string) => Promise<TokenAnswer>>()
  const introspectorFor = (audience: string) => {
    const introspector =
      introspectors.get(audience) ?? createIntrospector({ ...credentials, endpoint, audience })
    introspectors.set(audience, introspector)
    return introspector
  }
  introspectorFor(endpoint)
  introspectors.clear()
  return async (token, resource) => {
    const answer = await introspectorFor(resource)(token)
    if (!answer) return { valid: false, error: 'invalid_token', errorDescription: 'The token is not active.' }
    const { scopes, exp, extra } = answer
    const sub: unknown = extra?.sub
    return {
      valid: true,
      scopes: [scopes ?? []].flat(),
      ...(extra !== undefined && { claims: extra }),
      ...(typeof sub === 'string' && { subject: sub }),
      ...(exp !== undefined && { expiresAt: exp }),
    }
  }
}
