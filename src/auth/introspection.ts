/**
 * Tokens that only their issuer can read: it is asked about each (RFC 7662).
 */
import type { Auth } from './auth.ts'
import { fetchJson } from './fetch-json.ts'
import { createGate, type GateOptions } from './gate.ts'
import { toScopes } from './jwt.ts'
import { InvalidTokenError, type VerifiedToken, type Verifier } from './verifier.ts'

export interface IntrospectionOptions extends GateOptions {
  /** The introspection endpoint. */
  endpoint: string
  /** This server's own credentials there. */
  clientId: string
  clientSecret: string
  /** The `aud` that a token must be for: the URL of this server's endpoint, or what the issuer calls this server. */
  audience: string | readonly string[]
  /** The `iss` that a token must have, and where clients get theirs. */
  issuer: string
  /** Milliseconds for which an answer is used again; a token that is revoked meanwhile is still taken. Default 30 000. */
  cacheMs?: number
  /** Default the global one. */
  fetch?: typeof globalThis.fetch
}

/** Tokens an isolate remembers answers for. */
const MAX_CACHED = 1000

interface Cached {
  readonly token: VerifiedToken | undefined
  readonly until: number
}

/**
 * Asks the issuer about a token, and remembers the answer for a short while, by the token's hash, for 1000 tokens at most.
 *
 * ```ts
 * introspection({ endpoint: 'https://login.example.com/introspect', clientId: 'shop', clientSecret, issuer, audience })
 * ```
 *
 * @throws TypeError for an option that is missing.
 */
export function introspection(options: IntrospectionOptions): Auth {
  for (const option of ['endpoint', 'clientId', 'clientSecret', 'issuer'] as const) {
    if (typeof options[option] !== 'string' || options[option] === '') {
      throw new TypeError(`introspection needs "${option}": a string that is not empty.`)
    }
  }
  if (options.audience === undefined || options.audience.length === 0) {
    throw new TypeError(
      'introspection needs "audience": without it, tokens for any other service would be taken.',
    )
  }
  const { cacheMs = 30_000 } = options
  const cache = new Map<string, Cached>()
  const verifier: Verifier = {
    authorizationServers: [options.issuer],
    verify: async (token) => {
      const key = await digest(token)
      const now = Date.now()
      let known = cache.get(key)
      if (known === undefined || known.until <= now) {
        const verified = await introspect(token, options)
        const expiresAtMs = (verified?.expiresAt ?? Number.POSITIVE_INFINITY) * 1000
        known = { token: verified, until: Math.min(now + cacheMs, expiresAtMs) }
        remember(cache, key, known)
      }
      if (known.token === undefined) throw new InvalidTokenError('The token is not valid.')
      return known.token
    },
  }
  return createGate(verifier, options)
}

/** The oldest goes first. */
function remember(cache: Map<string, Cached>, key: string, entry: Cached): void {
  cache.delete(key)
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!)
  cache.set(key, entry)
}

async function introspect(
  token: string,
  { endpoint, clientId, clientSecret, audience, issuer, fetch }: IntrospectionOptions,
): Promise<VerifiedToken | undefined> {
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
  const { active, aud, iss, exp, scope, client_id: id, sub } = answer
  const wanted = [audience].flat()
  if (active !== true || (iss !== undefined && iss !== issuer)) return undefined
  if (![aud].flat().some((one) => wanted.includes(one as string))) return undefined
  if (exp !== undefined && !(typeof exp === 'number' && exp * 1000 > Date.now())) return undefined
  const clientOrUser = [id, sub].find((one) => typeof one === 'string' && one !== '')
  return {
    clientId: (clientOrUser as string | undefined) ?? 'unknown',
    scopes: toScopes(scope),
    ...(typeof exp === 'number' && { expiresAt: exp }),
    extra: answer,
  }
}

/** Both are form-encoded before they are joined (RFC 6749 §2.3.1). */
function basicCredentials(clientId: string, clientSecret: string): string {
  return btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)
}

async function digest(token: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)))
  return String.fromCharCode(...bytes)
}
