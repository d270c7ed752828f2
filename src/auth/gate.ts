/**
 * The gate before a server: reads the token, has it verified, and answers who may not enter.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Access, Guarded } from '../request/access.ts'
import type { Admission, Auth, AuthContext, AuthRefusal, ResourceLocation } from './auth.ts'
import { bearerChallenge } from './challenge.ts'
import { type Identity, toIdentity } from './identity.ts'
import {
  InvalidTokenError,
  KnownOutageError,
  type Verifier,
  VerifierMisconfiguredError,
  VerifierUnavailableError,
} from './verifier.ts'

export interface GateOptions {
  /** Scopes that every call needs. Default none. */
  scopes?: readonly string[]
  /** Scopes for the metadata's `scopes_supported`. Default `scopes`. */
  scopesSupported?: readonly string[]
  /** What anybody may use without a token, by name; resources by URI or URI template. Default nothing. */
  anonymous?: {
    readonly tools?: readonly string[]
    readonly prompts?: readonly string[]
    readonly resources?: readonly string[]
  }
  /** Issuer URLs for the metadata. Default the verifier's own. */
  authorizationServers?: readonly string[]
  /** A page for people (RFC 9728 `resource_documentation`). */
  documentationUrl?: string
}

/** `b64token` of RFC 6750 §2.1, with the colons that Cloudflare's provider puts in, and no longer than any token should be. */
const BEARER = /^bearer +([\w.~+/:-]+=*)$/i
const TOKEN = /^[\w.~+/:-]+=*$/
const MAX_TOKEN_CHARACTERS = 16_384

const RETRY_AFTER_SECONDS = '5'

/** Puts a verifier before a server. A token in the query string is never looked at (MCP, "Access Token Usage"). */
export function createGate(verifier: Verifier, options: GateOptions = {}): Auth {
  const { scopes = [], anonymous } = options
  const anonymousAccess = createAnonymousAccess(anonymous, '')

  const unauthorized = (
    context: AuthContext,
    error?: 'invalid_token',
    description?: string,
  ): AuthRefusal => ({
    status: 401,
    message: description ?? 'Unauthorized: send an access token as a Bearer token.',
    headers: {
      'www-authenticate': bearerChallenge({
        metadataUrl: context.location().metadataUrl,
        scopes,
        ...(error !== undefined && { error }),
        ...(description !== undefined && { description }),
      }),
    },
  })

  const admit = async (request: Request, context: AuthContext): Promise<Admission> => {
    const found = readToken(request, verifier.header)
    if (found.kind === 'none') {
      if (anonymous === undefined) return { ok: false, refusal: unauthorized(context) }
      const { metadataUrl } = context.location()
      return { ok: true, auth: undefined, access: createAnonymousAccess(anonymous, metadataUrl) }
    }
    if (found.kind === 'malformed') {
      return {
        ok: false,
        refusal: unauthorized(context, 'invalid_token', 'The Authorization header is malformed.'),
      }
    }
    let identity: Identity
    try {
      const { resource } = context.location()
      const answer = await verifier.verify(found.token, { env: context.env, resource, request })
      identity = await toIdentity(answer, found.token)
    } catch (error) {
      return { ok: false, refusal: refusalFor(error, context) }
    }
    if (identity.expiresAt !== undefined && identity.expiresAt * 1000 <= Date.now()) {
      return { ok: false, refusal: unauthorized(context, 'invalid_token', 'The token has expired.') }
    }
    // A copy: what is in `ctx.auth` belongs to the tools.
    const granted = [...identity.scopes]
    if (!scopes.every((scope) => granted.includes(scope))) {
      return { ok: false, refusal: insufficient(scopes, context) }
    }
    return {
      ok: true,
      auth: { ...identity, token: found.token },
      access: createScopedAccess(granted, scopes, () => context.location().metadataUrl),
    }
  }

  let isReported = false
  const refusalFor = (error: unknown, context: AuthContext): AuthRefusal => {
    if (error instanceof InvalidTokenError) return unauthorized(context, 'invalid_token', error.message)
    if (error instanceof VerifierMisconfiguredError) {
      const refusal = unauthorized(context, 'invalid_token', 'The token is not valid.')
      if (isReported) return refusal
      isReported = true
      return { ...refusal, cause: error }
    }
    if (error instanceof VerifierUnavailableError) return unavailable(error)
    throw error
  }

  return {
    admit,
    anonymous: anonymousAccess,
    metadata: (location) => toMetadata(location, verifier, options),
  }
}

function unavailable(cause: VerifierUnavailableError): AuthRefusal {
  return {
    status: 503,
    message: 'The token could not be checked: try again in a few seconds.',
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
    ...(!(cause instanceof KnownOutageError) && { cause }),
  }
}

function insufficient(scopes: readonly string[], context: AuthContext): AuthRefusal {
  const { metadataUrl } = context.location()
  const challenge = bearerChallenge({ metadataUrl, scopes, error: 'insufficient_scope' })
  return {
    status: 403,
    message: `Forbidden: this server needs the ${describeScopes(scopes)}.`,
    headers: { 'www-authenticate': challenge },
  }
}

type FoundToken = { kind: 'none' } | { kind: 'malformed' } | { kind: 'token'; token: string }

function readToken({ headers }: Request, header: string | undefined): FoundToken {
  const value = headers.get(header ?? 'authorization')
  if (value === null || value === '') return { kind: 'none' }
  // Two headers arrive as one with a comma, which no token has.
  const token = header === undefined ? BEARER.exec(value)?.[1] : TOKEN.exec(value)?.[0]
  if (token === undefined || token.length > MAX_TOKEN_CHARACTERS) return { kind: 'malformed' }
  return { kind: 'token', token }
}

/**
 * Whoever has a token may use what needs no scope, or scopes that the token has. A challenge names what every call needs, too: a
 * client that asks for just what it is told would lose the rest.
 */
function createScopedAccess(
  granted: readonly string[],
  ofEveryCall: readonly string[],
  metadataUrl: () => string,
): Access {
  return {
    isAnonymous: false,
    allows: ({ scopes = [] }) => scopes.every((scope) => granted.includes(scope)),
    refusal: ({ kind, name, scopes = [] }) => {
      const needed = [...new Set([...ofEveryCall, ...scopes])]
      const challenge = { metadataUrl: metadataUrl(), scopes: needed, error: 'insufficient_scope' as const }
      return new ProtocolError(
        ErrorCode.invalidRequest,
        `Forbidden: ${kind} ${name} needs the ${describeScopes(scopes)}.`,
        { requiredScopes: scopes },
        { status: 403, headers: { 'www-authenticate': bearerChallenge(challenge) } },
      )
    },
  }
}

function createAnonymousAccess(open: GateOptions['anonymous'], metadataUrl: string): Access {
  const { tools = [], prompts = [], resources = [] } = open ?? {}
  const names = { tool: tools, prompt: prompts, resource: resources }
  return {
    isAnonymous: true,
    allows: ({ kind, name }: Guarded) => names[kind].includes(name),
    refusal: ({ kind, name, scopes = [] }) =>
      new ProtocolError(
        ErrorCode.invalidRequest,
        `Unauthorized: ${kind} ${name} needs an access token.`,
        undefined,
        { status: 401, headers: { 'www-authenticate': bearerChallenge({ metadataUrl, scopes }) } },
      ),
  }
}

/** RFC 9728 §2. */
function toMetadata(
  { resource }: ResourceLocation,
  verifier: Verifier,
  { authorizationServers, scopes, scopesSupported = scopes, documentationUrl }: GateOptions,
): object {
  return {
    resource,
    authorization_servers: authorizationServers ?? verifier.authorizationServers,
    bearer_methods_supported: ['header'],
    ...(scopesSupported !== undefined && { scopes_supported: scopesSupported }),
    ...(documentationUrl !== undefined && { resource_documentation: documentationUrl }),
  }
}

function describeScopes(scopes: readonly string[]): string {
  return `${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(' ')}`
}
