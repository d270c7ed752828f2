/** The gate in front of a server: reads the token, verifies it, and refuses callers without access. */

import type { AuthInfo } from '../definition/context.ts'
import { isA, memberOf, textOf } from '../definition/error-text.ts'
import { TimeoutError, withTimeout } from '../definition/timeout.ts'
import { refuseUnknown } from '../definition/unknown-option.ts'
import type { Access, Guarded } from '../request/access.ts'
import { hasExpired } from '../request/expiry.ts'
import { ownAuth, withMembers } from '../request/own-auth.ts'
import type { Admission, Auth, AuthContext, AuthRefusal, ResourceLocation } from './auth.ts'
import { bearerChallenge } from './challenge.ts'
import { checkGateOptions, GATE_OPTIONS, type GateOptions } from './gate-options.ts'
import { type Identity, toIdentity } from './identity.ts'
import { createOnce } from './once.ts'
import { checkOpenNames } from './open-names.ts'
import { createScopedAccess, describeScopes } from './scoped-access.ts'
import { AUTHORIZATION, type TokenHeaders, tokenHeader } from './token-header.ts'
import { needsToken } from './unknown-caller.ts'
import {
  InvalidTokenError,
  KnownOutageError,
  type TokenAnswer,
  type TokenContext,
  UnknownResourceError,
  UnknownTokenError,
  type Verifier,
  VerifierMisconfiguredError,
  VerifierUnavailableError,
} from './verifier.ts'

/** `b64token` of RFC 6750 §2.1, plus the colons in tokens of Cloudflare's provider. Its length is checked separately. */
const BEARER = /^bearer +([\w.~+/:-]+=*)$/i
const TOKEN = /^[\w.~+/:-]+=*$/
const MAX_TOKEN_CHARACTERS = 16_384

/** Milliseconds for one token: more than the issuer's metadata and keys may take. */
export const VERIFY_TIMEOUT_MS = 20_000

const UNAVAILABLE: AuthRefusal = {
  status: 503,
  message: 'The token could not be checked: try again in a few seconds.',
  headers: { 'retry-after': '5' },
}

type Gate = Required<
  Omit<
    Auth,
    | 'header'
    | 'keyHeader'
    | 'realm'
    | 'faultIn'
    | 'signInFacts'
    | 'keyStore'
    | 'needsServer'
    | 'recheckMs'
    | 'serve'
  >
> &
  Pick<Auth, 'header' | 'realm'> & { readonly keyHeader?: string }

/**
 * Creates an `Auth` from a verifier. Tokens in the query string are ignored (MCP, "Access Token Usage").
 *
 * @throws TypeError for invalid options.
 */
export function createGate(verifier: Verifier, options: GateOptions = {}): Gate {
  if (typeof verifier?.verify !== 'function')
    throw new TypeError('createGate needs a verifier: { verify(token, context), authorizationServers }.')
  refuseUnknown('createGate', options, GATE_OPTIONS)
  return toGate(verifier, options)
}

/**
 * The same for callers with options of their own, which they have checked.
 *
 * @param isBounded Whether each wait of the verifier ends by itself, so that a token needs no timer. Default false.
 */
export function toGate(verifier: Verifier, options: GateOptions, isBounded = false): Gate {
  checkGateOptions(options)
  const { scopes = [], scopeHints = scopes, anonymous } = options
  const { clockToleranceSeconds = 0 } = verifier
  const anonymousAccess = createAnonymousAccess(anonymous, scopeHints, '')

  const challenge: Gate['challenge'] = ({ metadataUrl }, reason) =>
    bearerChallenge({
      metadataUrl,
      scopes: scopeHints,
      error: reason === undefined ? undefined : 'invalid_token',
      description: reason,
    })
  const { unauthorized, refusalFor } = createRefusals(challenge)

  const admitCaller = (caller: AuthInfo, context: AuthContext): Admission => {
    if (hasExpired(caller, clockToleranceSeconds)) {
      return { ok: false, refusal: unauthorized(context, 'The token has expired.') }
    }
    // A copy, since tools may change `ctx.auth`.
    const granted = [...caller.scopes]
    if (!scopes.every((scope) => granted.includes(scope))) {
      return { ok: false, refusal: insufficient(scopes, context) }
    }
    const access = createScopedAccess(granted, scopes, () => context.location().metadataUrl)
    return { ok: true, auth: ownAuth(caller), access }
  }

  const admit = async (request: Request, context: AuthContext): Promise<Admission> => {
    const found = readToken(request, verifier)
    if (found.kind === 'none') {
      if (anonymous === undefined || context.isTokenRequired === true) {
        return { ok: false, refusal: unauthorized(context) }
      }
      const { metadataUrl } = context.location()
      return { ok: true, auth: undefined, access: createAnonymousAccess(anonymous, scopeHints, metadataUrl) }
    }
    if (found.kind === 'malformed') {
      return {
        ok: false,
        refusal: unauthorized(context, `The ${tokenHeader(request, verifier)} header is malformed.`),
      }
    }
    let identity: Identity
    try {
      identity = await toIdentity(
        await verify(found.token, verifier, isBounded, request, context),
        found.token,
      )
    } catch (error) {
      return { ok: false, refusal: refusalFor(error, context) }
    }
    return admitCaller(withMembers(identity, { token: found.token }), context)
  }

  return {
    admit,
    admitCaller,
    ...(verifier.header !== undefined && { header: verifier.header }),
    ...(verifier.keyHeader !== undefined && { keyHeader: verifier.keyHeader }),
    ...(verifier.realm !== undefined && { realm: verifier.realm }),
    challenge,
    anonymous: anonymousAccess,
    checkNames: (parts, warn) => checkOpenNames(anonymous, parts, warn),
    metadata: (location) => toMetadata(location, verifier, options),
  }
}

type Unauthorized = (context: AuthContext, reason?: string) => AuthRefusal

/** Creates the responses to callers who are refused. */
function createRefusals(challenge: Gate['challenge']): {
  readonly unauthorized: Unauthorized
  refusalFor(error: unknown, context: AuthContext): AuthRefusal
} {
  const unauthorized: Unauthorized = (context, reason) => ({
    status: 401,
    message: reason ?? 'Unauthorized: send an access token as a Bearer token.',
    headers: { 'www-authenticate': challenge(context.location(), reason) },
  })
  const once = createOnce()

  const refusalFor = (error: unknown, context: AuthContext): AuthRefusal => {
    if (isA(error, InvalidTokenError)) {
      const isUnknown = isA(error, UnknownTokenError)
      return {
        ...unauthorized(context, textOf(error)),
        ...(isUnknown && { isUnknown }),
        ...once(memberOf(error, 'cause')),
      }
    }
    if (isA(error, VerifierMisconfiguredError)) {
      return { ...unauthorized(context, 'The token is not valid.'), isUnknown: true, ...once(error) }
    }
    if (isA(error, UnknownResourceError)) return { ...UNAVAILABLE, ...once(error) }
    if (isA(error, KnownOutageError)) return UNAVAILABLE
    if (isA(error, VerifierUnavailableError)) return { ...UNAVAILABLE, cause: error }
    throw error
  }

  return { unauthorized, refusalFor }
}

/**
 * Calls the verifier. If it reads `resource` and that comes only from the caller's `Host` header, the caller is refused, even if the
 * verifier catches the error.
 */
async function verify(
  token: string,
  verifier: Verifier,
  isBounded: boolean,
  request: Request,
  context: AuthContext,
): Promise<TokenAnswer> {
  const seen: { fault?: Error } = {}
  let answer: TokenAnswer
  try {
    const verifying = verifier.verify(token, new GivenContext(request, context, seen))
    answer = await (isBounded ? verifying : withTimeout(verifying, VERIFY_TIMEOUT_MS, 'token verifier'))
  } catch (error) {
    throw seen.fault ?? (isA(error, TimeoutError) ? toOutage(error) : error)
  }
  if (seen.fault !== undefined) throw seen.fault
  return answer
}

function toOutage(cause: TimeoutError): VerifierUnavailableError {
  return new VerifierUnavailableError(cause.message, { cause })
}

class GivenContext implements TokenContext {
  readonly env: unknown
  readonly server: string | undefined
  readonly waitUntil: TokenContext['waitUntil']
  readonly #request: Request
  readonly #context: AuthContext
  readonly #seen: { fault?: Error }

  constructor(request: Request, context: AuthContext, seen: { fault?: Error }) {
    this.env = context.env
    this.server = context.server
    this.waitUntil = context.waitUntil
    this.#request = request
    this.#context = context
    this.#seen = seen
  }

  get request(): Request {
    return this.#context.request?.() ?? this.#request
  }

  get resource(): string {
    const { resource, isVouchedFor } = this.#context.location()
    if (isVouchedFor) return resource
    this.#seen.fault = new UnknownResourceError()
    throw this.#seen.fault
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

function readToken(request: Request, headers: TokenHeaders): FoundToken {
  const name = tokenHeader(request, headers)
  const value = request.headers.get(name)
  if (value === null || value === '') return { kind: 'none' }
  // Two headers are joined with a comma, which no token contains.
  const token = name === AUTHORIZATION ? BEARER.exec(value)?.[1] : TOKEN.exec(value)?.[0]
  if (token === undefined || token.length > MAX_TOKEN_CHARACTERS) return { kind: 'malformed' }
  return { kind: 'token', token }
}

function createAnonymousAccess(
  open: GateOptions['anonymous'],
  baseScopes: readonly string[],
  metadataUrl: string,
): Access {
  const { tools = [], prompts = [], resources = [] } = open ?? {}
  const names: { [kind in Guarded['kind']]: readonly string[] } = {
    tool: tools,
    prompt: prompts,
    resource: resources,
    method: [],
  }
  return {
    isAnonymous: true,
    isKnown: false,
    allows: ({ kind, name }: Guarded) => names[kind].includes(name),
    refusal: (item) => needsToken(item, bearerChallenge({ metadataUrl, scopes: baseScopes })),
  }
}

/** RFC 9728 §2. Members without values are omitted (§3.2). */
function toMetadata(location: ResourceLocation, verifier: Verifier, options: GateOptions): object {
  const { resource, name } = location
  const { authorizationServers: issuers } = verifier
  const { authorizationServers, scopes = [], scopeHints = scopes, documentationUrl } = options
  const { scopesSupported = scopeHints, resourceName = name } = options
  return {
    resource,
    resource_name: resourceName,
    ...nonEmpty(
      'authorization_servers',
      authorizationServers ?? (typeof issuers === 'function' ? issuers(location) : issuers),
    ),
    bearer_methods_supported: ['header'],
    ...nonEmpty('scopes_supported', scopesSupported),
    resource_documentation: documentationUrl,
  }
}

function nonEmpty(name: string, values: readonly string[]): object {
  return values.length > 0 ? { [name]: values } : {}
}
