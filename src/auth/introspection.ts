/**
 * Opaque tokens: the issuer is asked about each one (RFC 7662).
 */

import { digest } from '../definition/digest.ts'
import { isA } from '../definition/error-text.ts'
import { setNewest } from '../definition/set-newest.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import type { Auth } from './auth.ts'
import { createCircuitBreaker, QuestionError } from './circuit-breaker.ts'
import { fetchJson } from './fetch-json.ts'
import { toGate } from './gate.ts'
import { GATE_OPTIONS, type GateOptions } from './gate-options.ts'
import { checkAudienceOption, isFor, isSecureUrl } from './issuer.ts'
import { toScopes } from './scopes.ts'
import { type BoundTokenOptions, tokenKindRefusal } from './token-kind.ts'
import { KnownOutageError, type TokenAnswer } from './verifier.ts'

/** Options of `introspection`. */
export interface IntrospectionOptions extends GateOptions, BoundTokenOptions {
  /** The introspection endpoint, an https URL: it receives this server's credentials, and its answers are trusted. */
  endpoint: string
  /** This server's own credentials at the endpoint. */
  clientId: string
  clientSecret: string
  /** The required `aud` of tokens: the URL of this server's endpoint, or the issuer's name for this server. */
  audience: string | readonly string[]
  /** The required `iss` of tokens, also shown to clients as the issuer. */
  issuer: string
  /** Milliseconds for which an answer is cached; a token that is revoked in the meantime is still accepted. Default 30 000. */
  cacheMs?: number
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

const OPTIONS: Names<IntrospectionOptions> = {
  endpoint: 'string',
  clientId: 'string',
  clientSecret: 'string',
  audience: 1,
  issuer: 'string',
  cacheMs: [0],
  allowBoundTokens: 'boolean',
  fetch: 'function',
  ...GATE_OPTIONS,
}

/** Maximum cached answers per isolate, separately for valid and invalid tokens, so that invalid ones do not displace valid ones. */
const MAX_CACHED = 1000

/** Milliseconds until the issuer is asked about a token again after it refused the request. */
const REFUSED_MS = 5000

interface Known {
  /** Undefined: the token is invalid. */
  readonly answer?: TokenAnswer
  /** Why the token is refused: the issuer failed to answer about it, or it is not an access token. */
  readonly refusal?: Error
  readonly until: number
}

/**
 * Asks the issuer about a token, and caches the answer for `cacheMs` under the token's hash: up to 1000 valid tokens and 1000 others.
 * While the issuer fails, it is asked only once in up to 5 seconds. Whether it fails is judged by a token of this server's own, since a
 * caller's token may be made to fail.
 *
 * ```ts
 * introspection({ endpoint: 'https://login.example.com/introspect', clientId: 'shop', clientSecret, issuer, audience })
 * ```
 *
 * @throws TypeError for a missing option, and for an endpoint without TLS.
 */
export function introspection(options: IntrospectionOptions): Auth {
  requireOptions('introspection', options, OPTIONS)
  if (typeof options.issuer !== 'string' || options.issuer === '') {
    throw new TypeError('introspection needs "issuer": a non-empty string.')
  }
  const { issuer } = options
  return toGate(
    { authorizationServers: [issuer], realm: issuer, verify: createIntrospector(options) },
    options,
  )
}

/** Without an issuer, any `iss` is accepted. */
type Introspector = Omit<IntrospectionOptions, 'issuer'> & { issuer?: string }

/** Creates a function that asks about a token. @throws TypeError like `introspection`. */
export function createIntrospector(options: Introspector): (token: string) => Promise<TokenAnswer> {
  checkOptions(options)
  const { cacheMs = 30_000 } = options
  const good = new Map<string, Known>()
  const others = new Map<string, Known>()
  // A token that the issuer cannot know, and no caller has chosen.
  const breaker = createCircuitBreaker(() => introspect(`unknown-${crypto.randomUUID()}`, options))

  const remember = (key: string, known: Known): Known => {
    good.delete(key)
    others.delete(key)
    const cache = known.answer ? good : others
    setNewest(cache, key, known, MAX_CACHED)
    return known
  }

  const ask = async (token: string, key: string): Promise<Known> => {
    const now = Date.now()
    try {
      const answer = await breaker(() => introspect(token, options))
      const until = Math.min(now + cacheMs, expiryMs(answer))
      // A refresh token is active, too (RFC 7662 §2.2).
      const refusal = answer
        ? tokenKindRefusal({ issuer: options.issuer, claims: answer.extra ?? {} }, options)
        : undefined
      return remember(key, refusal === undefined ? { answer, until } : { refusal, until })
    } catch (failure) {
      if (isA(failure, QuestionError)) {
        const refusal = new KnownOutageError('The issuer refused this token a moment ago.')
        remember(key, { refusal, until: now + REFUSED_MS })
      }
      throw failure
    }
  }

  return async (token) => {
    const key = await digest(token)
    const remembered = good.get(key) ?? others.get(key)
    const known =
      remembered !== undefined && remembered.until > Date.now() ? remembered : await ask(token, key)
    if (known.refusal !== undefined) throw known.refusal
    // A copy, so that a tool that changes it does not affect the next call.
    return structuredClone(known.answer)
  }
}

function checkOptions(options: Introspector): void {
  for (const option of ['clientId', 'clientSecret'] as const) {
    if (typeof options[option] !== 'string' || options[option] === '') {
      throw new TypeError(`introspection needs "${option}": a non-empty string.`)
    }
  }
  if (!isSecureUrl(options.endpoint)) throw new TypeError('introspection needs "endpoint": an https URL.')
  checkAudienceOption('introspection', options.audience)
}

function expiryMs(answer: TokenAnswer): number {
  return answer && answer.exp !== undefined ? answer.exp * 1000 : Number.POSITIVE_INFINITY
}

async function introspect(
  token: string,
  { endpoint, clientId, clientSecret, audience, issuer, fetch }: Introspector,
): Promise<TokenAnswer> {
  const answer = await fetchJson(endpoint, {
    fetch,
    init: {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        authorization: `Basic ${basicCredentials(clientId, clientSecret)}`,
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
    },
  })
  const { active, aud, iss, exp, scope, client_id, sub, username } = answer
  if (
    active !== true ||
    (iss !== undefined && issuer !== undefined && iss !== issuer) ||
    !isFor(aud, audience)
  )
    return undefined
  if (exp !== undefined && !(typeof exp === 'number' && exp * 1000 > Date.now())) return undefined
  return {
    active,
    client_id,
    scopes: toScopes(scope),
    ...(exp !== undefined && { exp }),
    // `sub` distinguishes the users of one client; some issuers only send `username`.
    claims: answer,
    extra: { ...answer, sub: sub ?? username },
  }
}

/** Both are form-encoded before they are joined (RFC 6749 §2.3.1). */
function basicCredentials(clientId: string, clientSecret: string): string {
  return btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)
}
