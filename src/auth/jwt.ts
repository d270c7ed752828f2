/**
 * JSON Web Tokens, verified with the keys of their issuer (RFC 7519, RFC 9068), by `jose`.
 */

import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { isA } from '../definition/error-text.ts'
import { withTimeout } from '../definition/timeout.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import type { Auth } from './auth.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { fetchJson } from './fetch-json.ts'
import { toGate, VERIFY_TIMEOUT_MS } from './gate.ts'
import { GATE_OPTIONS, type GateOptions } from './gate-options.ts'
import { checkAudienceOption, isFor, isSecureUrl } from './issuer.ts'
import { toScopes } from './scopes.ts'
import { type TokenKindOptions, tokenKindRefusal } from './token-kind.ts'
import { createVerifiedTokens, type Signed } from './verified-tokens.ts'
import {
  InvalidTokenError,
  type TokenAnswer,
  UnknownTokenError,
  type Verifier,
  VerifierUnavailableError,
} from './verifier.ts'

/** Options of `jwt`. */
export interface JwtOptions extends GateOptions, TokenKindOptions {
  /** The required `iss` of tokens. Its metadata is used to find the keys, unless `jwksUri` is set. */
  issuer: string
  /** The required `aud` of tokens: the URL of this server's endpoint, or the issuer's name for this server. */
  audience: string | readonly string[]
  /** The claim with the audience, for issuers that use another one. Default `aud`. */
  audienceClaim?: string
  /** The URL of the issuer's keys. Default: from its metadata (RFC 8414, or OpenID Connect Discovery). */
  jwksUri?: string
  /** Accepted algorithms. Default: the asymmetric ones, such as RS256, PS256, ES256, ES384 and EdDSA. Never `none` or `HS*`. */
  algorithms?: readonly string[]
  /** Tolerated clock difference in seconds, up to 60. Default 30. */
  clockToleranceSeconds?: number
  /**
   * The claims whose scopes a token has together, as text or a list. Default `scope` and `scp`: what the client was granted. Auth0's
   * `permissions` are all that the user may do, which may be more.
   */
  scopeClaims?: readonly string[]
  /** An additional check of verified claims: returns the reason to refuse, or undefined. */
  check?: (claims: JWTPayload) => string | undefined
  /** The header in which the platform sends the token. Default `Authorization`. */
  header?: string
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

/** The names of the options of `jwt`. */
export const JWT_OPTIONS: Names<JwtOptions> = {
  issuer: 'string',
  audience: 1,
  audienceClaim: 'string',
  jwksUri: 'string',
  algorithms: 'strings',
  clockToleranceSeconds: [0, 60],
  scopeClaims: 'strings',
  tokenTypes: 'strings',
  allowBoundTokens: 'boolean',
  check: 'function',
  header: 'string',
  fetch: 'function',
  ...GATE_OPTIONS,
}

const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const SCOPE_CLAIMS = ['scope', 'scp']
const OTHER_AUDIENCE = 'The token was issued for a different audience.'
const KEYS_MAX_AGE_MS = 600_000
/** For how long keys are used if they cannot be fetched again. */
const KEYS_MAX_KEPT_MS = 86_400_000
/** An unknown key id causes at most one fetch in this time: otherwise any caller could trigger fetches. */
const KEYS_COOLDOWN_MS = 60_000

/**
 * Checks signature, issuer, audience, times, and that it is an access token: `typ` must be `at+jwt`, or one of `tokenTypes`. The issuer's keys are fetched at the first token, again after 10 minutes, and at most
 * once a minute for an unknown key id. If fetching fails, the known keys are used for up to a day.
 *
 * The signature of a token is verified once in a process or isolate, until it expires or the keys are fetched again; all else is checked each time.
 *
 * ```ts
 * jwt({ issuer: 'https://login.example.com', audience: 'https://shop.example/mcp', scopes: ['shop'] })
 * ```
 *
 * @throws TypeError for a missing or invalid option, and for an algorithm that is not asymmetric.
 */
export function jwt(options: JwtOptions): Auth {
  requireOptions('jwt', options, JWT_OPTIONS)
  checkOptions(options)
  const {
    issuer,
    audience,
    audienceClaim = 'aud',
    algorithms = ASYMMETRIC,
    clockToleranceSeconds = 30,
    scopeClaims = SCOPE_CLAIMS,
    check,
    header,
  } = options
  const keys = createKeyFinder(options)
  const known = createVerifiedTokens()
  const isStandardAudience = audienceClaim === 'aud'

  const verifier: Verifier = {
    authorizationServers: [issuer],
    realm: issuer,
    clockToleranceSeconds,
    ...(header !== undefined && { header }),
    verify: async (token) => {
      const version = keys.version()
      const found = known.find(token, version)
      const isKnown = found !== undefined && isTimely(found.claims, clockToleranceSeconds)
      const signed = isKnown
        ? found
        : await verifySignature(token, keys.find, {
            issuer,
            algorithms: [...algorithms],
            clockTolerance: clockToleranceSeconds,
            requiredClaims: ['exp'],
            ...(isStandardAudience && { audience: typeof audience === 'string' ? audience : [...audience] }),
          })
      const { claims, header } = signed
      if (!isStandardAudience && !isFor(claims[audienceClaim], audience)) {
        throw new InvalidTokenError(OTHER_AUDIENCE)
      }
      const refusal = tokenKindRefusal({ issuer, header, claims }, options)
      if (refusal !== undefined) throw refusal
      // Tokens that are refused push out none. Before `check`, which may change the claims.
      if (!isKnown) known.add(token, signed, version)
      const reason = check?.(claims)
      if (reason !== undefined) throw new InvalidTokenError(reason)
      return toAnswer(claims, scopeClaims)
    },
  }
  return toGate(verifier, options, true)
}

function checkOptions({ issuer, audience, algorithms = [], jwksUri, tokenTypes }: JwtOptions): void {
  if (!isSecureUrl(issuer)) throw new TypeError('jwt needs "issuer": an https URL.')
  if (jwksUri !== undefined && !isSecureUrl(jwksUri))
    throw new TypeError('"jwksUri" of jwt must be an https URL.')
  checkAudienceOption('jwt', audience)
  if (tokenTypes?.includes(''))
    throw new TypeError('"tokenTypes" must be a list of non-empty strings, such as ["JWT"].')
  const weak = algorithms.find((algorithm) => !ASYMMETRIC.includes(algorithm))
  if (weak !== undefined)
    throw new TypeError(`jwt does not accept ${weak}: pass any of ${ASYMMETRIC.join(', ')}.`)
}

/** Whether a token that was good is so at this time, too. */
function isTimely({ exp = 0, nbf = 0 }: JWTPayload, toleranceSeconds: number): boolean {
  const now = Date.now() / 1000
  return exp + toleranceSeconds > now && nbf - toleranceSeconds <= now
}

interface KeyFinder {
  /** Settles in time. */
  readonly find: JWTVerifyGetKey
  /** Which keys these are. Undefined: there are none, or they are to be fetched again. */
  version(): number | undefined
}

function createKeyFinder({ issuer, jwksUri, fetch = globalThis.fetch }: JwtOptions): KeyFinder {
  const breaker = createCircuitBreaker()
  let keys: JWTVerifyGetKey | undefined
  let fetchedAt = Number.POSITIVE_INFINITY
  let fetches = 0
  /** The fetch that brought the keys. */
  let newest = 0
  let nextRefreshAt = 0

  const fetchKeys = async (): Promise<Record<string, unknown>> => {
    const uri = jwksUri ?? (await discoverKeys(issuer, fetch))
    const keys = await fetchJson(uri, { fetch })
    if (!Array.isArray(keys.keys)) throw new VerifierUnavailableError(`${uri} has no keys.`)
    return keys
  }

  // Only shares a fetch among those who wait, where a platform allows that: it has its keys later than they are here.
  const { reload } = createRemoteJWKSet(new URL(jwksUri ?? issuer), {
    [customFetch]: async () => {
      const number = ++fetches
      const found = await breaker(fetchKeys)
      const next = createLocalJWKSet(found as unknown as JSONWebKeySet)
      // On workerd several requests fetch at the same time, and the answer that comes last may be an older one.
      if (number > newest) {
        newest = number
        keys = next
        fetchedAt = Date.now()
      }
      return Response.json(found)
    },
  })

  const find: JWTVerifyGetKey = async (header, token) => {
    const now = Date.now()
    const age = now - fetchedAt
    const isNeeded = keys === undefined || age >= KEYS_MAX_KEPT_MS
    if (isNeeded || (age >= KEYS_MAX_AGE_MS && now >= nextRefreshAt)) {
      nextRefreshAt = now + KEYS_COOLDOWN_MS
      await reload().catch((error: unknown) => {
        if (isNeeded) throw error
      })
    }
    try {
      return await keys!(header, token)
    } catch (error) {
      if (!isA(error, errors.JWKSNoMatchingKey) || Date.now() - fetchedAt < KEYS_COOLDOWN_MS) throw error
      await reload()
      return keys!(header, token)
    }
  }

  return {
    version() {
      const age = Date.now() - fetchedAt
      return age >= 0 && age < KEYS_MAX_AGE_MS ? newest : undefined
    },
    find: (header, token) => withTimeout(find(header, token), VERIFY_TIMEOUT_MS, 'issuer'),
  }
}

/** RFC 8414 §3.1, then OpenID Connect Discovery §4. */
async function discoverKeys(issuer: string, fetch: typeof globalThis.fetch): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  let failure: unknown
  for (const place of places) {
    try {
      const { issuer: named, jwks_uri: uri } = await fetchJson(place, { fetch })
      if (named !== issuer) throw new VerifierUnavailableError(`${place} is the metadata of another issuer.`)
      if (!isSecureUrl(uri)) throw new VerifierUnavailableError(`${place} has no jwks_uri.`)
      return uri as string
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

async function verifySignature(
  token: string,
  keys: JWTVerifyGetKey,
  options: Parameters<typeof jwtVerify>[2],
): Promise<Signed> {
  try {
    const { payload: claims, protectedHeader: header } = await jwtVerify(token, keys, options)
    return { header, claims }
  } catch (error) {
    throw refusalOf(error)
  }
}

/** Distinguishes jose's errors caused by the token from those caused by the issuer. */
function refusalOf(error: unknown): Error {
  if (isA(error, VerifierUnavailableError)) return error
  if (isA(error, errors.JWTExpired)) return new InvalidTokenError('The token has expired.')
  if (isA(error, errors.JWTClaimValidationFailed)) {
    if (error.claim === 'aud') return new InvalidTokenError(OTHER_AUDIENCE)
    const message = `The token has the wrong ${error.claim}.`
    return error.claim === 'iss' ? new UnknownTokenError(message) : new InvalidTokenError(message)
  }
  const isTokensFault =
    isA(error, errors.JWTInvalid) ||
    isA(error, errors.JWSInvalid) ||
    isA(error, errors.JWSSignatureVerificationFailed) ||
    isA(error, errors.JOSEAlgNotAllowed) ||
    isA(error, errors.JOSENotSupported) ||
    isA(error, errors.JWKSNoMatchingKey) ||
    isA(error, errors.JWKSMultipleMatchingKeys) ||
    // The type of the key does not match the algorithm.
    isA(error, TypeError)
  if (isTokensFault) return new UnknownTokenError()
  return new VerifierUnavailableError("Could not fetch the issuer's keys.", { cause: error })
}

function toAnswer(claims: JWTPayload, scopeClaims: readonly string[]): TokenAnswer {
  const { exp, azp, client_id } = claims
  return {
    valid: true,
    client_id,
    azp,
    scopes: scopeClaims.flatMap((claim) => toScopes(claims[claim])),
    ...(exp !== undefined && { expiresAt: exp }),
    claims,
    extra: claims,
  }
}
