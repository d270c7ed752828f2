/**
 * Authorization as configured in Mastra: a `validateToken(token, resource)` that returns `{ valid, … }`. Thin wrappers around the
 * verifiers of `mayfly-mcp/auth`.
 */
import type { Auth } from '../auth/auth.ts'
import { createGate } from '../auth/gate.ts'
import { createIntrospector } from '../auth/introspection.ts'
import { locationOf } from '../auth/location.ts'
import { createTokenFinder } from '../auth/static-tokens.ts'
import {
  InvalidTokenError,
  type TokenAnswer,
  type Verifier,
  VerifierUnavailableError,
} from '../auth/verifier.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'

/** The result of `validateToken`. */
export interface TokenValidationResult {
  valid: boolean
  scopes?: readonly string[]
  /** The user, `ctx.auth.subject`. */
  subject?: string
  /** Seconds since the epoch. */
  expiresAt?: number
  /** `ctx.auth.extra`. */
  claims?: Record<string, unknown>
  /** `server_error`: the token could not be checked, and the client receives 503. Any other code: 401. */
  error?: string
  /** Sent to the client. */
  errorDescription?: string
}

/** Checks a token, which must have been issued for `resource`. */
export type ValidateToken = (
  token: string,
  resource: string,
) => Promise<TokenValidationResult> | TokenValidationResult

/** The configuration of `oauth` and `createOAuthMiddleware`. */
export interface OAuthConfig {
  /** This server's URL as clients see it; tokens must be issued for it. */
  resource: string
  authorizationServers: readonly string[]
  /** `scopes_supported` of the metadata. Default `mcp:read` and `mcp:write`. */
  scopesSupported?: readonly string[]
  /** A name to display (RFC 9728 `resource_name`). */
  resourceName?: string
  /** Required: without it, tokens would not be checked. It must check that a token was issued for `resource`. */
  validateToken: ValidateToken
}

const OPTIONS: Names<OAuthConfig> = {
  resource: 'string',
  authorizationServers: 'strings',
  scopesSupported: 'strings',
  resourceName: 'string',
  validateToken: 'function',
}

const DEFAULT_SCOPES = ['mcp:read', 'mcp:write']

/**
 * Creates the `auth` of a server from the configuration of Mastra's `createOAuthMiddleware`.
 *
 * ```ts
 * new MCPServer({ …, auth: oauth({ resource, authorizationServers, validateToken }) })
 * ```
 *
 * @throws TypeError for a configuration without `resource`, `authorizationServers` or `validateToken`.
 */
export function oauth(config: OAuthConfig): Auth {
  requireOptions('oauth', config, OPTIONS)
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
  const isUrl = (url: unknown): boolean => typeof url === 'string' && URL.canParse(url)
  if (!Array.isArray(authorizationServers) || !authorizationServers.every(isUrl)) {
    throw new TypeError(
      'oauth needs "authorizationServers": a list of URLs, such as ["https://login.example.com"].',
    )
  }
  const verifier: Verifier = {
    authorizationServers,
    verify: async (token) => toAnswer(await validateToken(token, resource)),
  }
  const gate = createGate(verifier, { scopesSupported })
  const own = locationOf(resource)
  return {
    ...gate,
    // The challenge always names the metadata of this resource, whatever host the request addressed.
    admit: (request, context) => gate.admit(request, { ...context, location: () => own }),
    challenge: (_location, reason) => gate.challenge(own, reason),
    admitCaller: (caller, context) => gate.admitCaller(caller, { ...context, location: () => own }),
    metadata: (location) => ({ ...gate.metadata({ ...location, resource }), resource_name: resourceName }),
  }
}

const NOT_VALID: TokenValidationResult = { valid: false }

/** A function that returns nothing admits no caller. */
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
    ...(claims !== undefined && { claims: claims as Record<string, unknown> }),
    extra: { ...claims, ...(subject !== undefined && { sub: subject }) },
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/**
 * Accepts these tokens, compared in constant time, each with the scopes `mcp:read` and `mcp:write`.
 *
 * @throws TypeError for a token under 16 characters, and for a repeated pattern.
 */
export function createStaticTokenValidator(tokens: readonly string[]): ValidateToken {
  if (!Array.isArray(tokens)) throw new TypeError('createStaticTokenValidator needs a list of tokens.')
  const find = createTokenFinder((tokens as readonly string[]).map((token) => ({ token })))
  return async (token) =>
    (await find(token, undefined)) === undefined
      ? { valid: false, error: 'invalid_token', errorDescription: 'The token is not known.' }
      : { valid: true, scopes: DEFAULT_SCOPES }
}

/**
 * Asks the issuer about each token (RFC 7662), as `introspection` does: over https, with answers cached for 30 seconds. A token
 * without this server in its `aud` is invalid.
 *
 * @throws TypeError without credentials, and for an endpoint without TLS.
 */
export function createIntrospectionValidator(
  endpoint: string,
  credentials: { clientId: string; clientSecret: string },
): ValidateToken {
  refuseUnknown('createIntrospectionValidator', credentials, { clientId: 'string', clientSecret: 'string' })
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
