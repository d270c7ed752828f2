/** API keys as `auth` of a server. */
import type { Auth } from '../auth/auth.ts'
import { toGate } from '../auth/gate.ts'
import { GATE_OPTIONS, type GateOptions } from '../auth/gate-options.ts'
import {
  InvalidTokenError,
  UnknownTokenError,
  type Verifier,
  VerifierUnavailableError,
} from '../auth/verifier.ts'
import { fromBase64Url } from '../definition/base64.ts'
import type { Env } from '../definition/context.ts'
import { isSameDigest, sha256 } from '../definition/digest.ts'
import { textOf } from '../definition/error-text.ts'
import { forEnv } from '../definition/for-env.ts'
import { type Names, requireOptions } from '../definition/unknown-option.ts'
import { type Audience, audienceOf, isFor, storeFor } from './audience.ts'
import { keyIdOf } from './key.ts'
import { createLookUp, type LookUp } from './look-up.ts'
import { type KeyStore, requireStore, type StoredKey, storeError } from './store.ts'
import { createUses, type NoteUse } from './uses.ts'

/** Options of `apiKeys`. */
export interface ApiKeysOptions<E = Env> extends GateOptions {
  /** Where the keys are stored, or a function that gets the store from the platform's environment. */
  store: KeyStore | ((env: E) => KeyStore)
  /**
   * A name for the server, which its keys are for: those of other servers in the same store are refused. Servers with one name share their
   * keys. Default: the `id` of the `MCPServer`; `fromSdk`, `fromNode` and `honoAuth` have none, and need it.
   */
  server?: string
  /** Also accepts keys in this header, which then counts before `Authorization`. Default: only `Authorization: Bearer <key>`. */
  header?: 'x-api-key'
  /** Milliseconds, up to 300 000, for which a key is remembered: a revoked one is accepted for as long, and its open streams 15 seconds longer. Default 5000. */
  cacheMs?: number
}

const OPTIONS: Names<ApiKeysOptions> = {
  store: 1,
  server: 'string',
  header: { 'x-api-key': 1 },
  cacheMs: [0, 300_000],
  ...GATE_OPTIONS,
}

/** Milliseconds between the checks of a key whose stream is open. */
const RECHECK_MS = 15_000

interface Opened {
  readonly store: KeyStore
  readonly lookUp: LookUp
  readonly noteUse: NoteUse
}

/**
 * Accepts API keys (`mk_…`), which `mayfly keys create` and `createKeyAdmin` make. The caller is the key's owner: `ctx.auth.clientId`,
 * with `keyId` and `keyName` in `ctx.auth.extra`. Only keys of this server and its stage (`MAYFLY_STAGE`) are accepted. A text with a wrong checksum is refused without asking the store. While the store is
 * down, callers get 503; what it answered before is used for `cacheMs` only. The streams of a key that was revoked end within `cacheMs`
 * and 15 seconds.
 *
 * ```ts
 * apiKeys({ store: environmentKeyStore })
 * ```
 *
 * @throws TypeError for a missing store and for invalid options.
 */
export function apiKeys<E = Env>(options: ApiKeysOptions<E>): Auth {
  requireOptions('apiKeys', options, OPTIONS, 'store')
  const { store, server: named, header, cacheMs = 5000, ...gate } = options
  if (named === '') throw new TypeError('"server" of apiKeys is empty.')
  if (typeof store !== 'function') requireStore('apiKeys', store)
  const openedFor = forEnv<Opened>(
    typeof store === 'function' ? (env) => open(store(env as E), cacheMs) : open(store, cacheMs),
  )
  const verifier: Verifier = {
    authorizationServers: options.authorizationServers ?? [],
    realm: 'api-keys',
    ...(header !== undefined && { keyHeader: header }),
    async verify(token, { env, server, waitUntil }) {
      const id = keyIdOf(token)
      if (id === undefined) throw refusalOf(token)
      const { store, lookUp, noteUse } = openedIn(env)
      const audience = audienceIn(server, env)
      const presented = await sha256(token)
      const key = await lookUp(id)
      // Without a key, the comparison takes as long.
      const stored = (key && fromBase64Url(key.hash)) ?? new Uint8Array(presented.length)
      if (!isSameDigest(presented, stored) || key === undefined)
        throw new InvalidTokenError('The API key is not valid.', causeIn(store))
      refuseForeign(key, audience)
      refuseEnded(key)
      noteUse(key, waitUntil)
      return toAnswer(key)
    },
  }
  const openedIn = (env: unknown): Opened => {
    try {
      return openedFor(env)!
    } catch (cause) {
      throw new VerifierUnavailableError(storeError(cause), { cause })
    }
  }
  const audienceIn = (server: string | undefined, env: unknown): Audience => {
    try {
      return audienceOf(named ?? server, env)
    } catch (cause) {
      throw new VerifierUnavailableError(textOf(cause), { cause })
    }
  }
  return {
    ...toGate(verifier, gate),
    recheckMs: RECHECK_MS,
    ...(named === undefined && { needsServer: true }),
    faultIn(env, server) {
      try {
        audienceOf(named ?? server, env)
      } catch (error) {
        return textOf(error)
      }
      try {
        return openedFor(env)!.store.fault
      } catch {
        // Asked outside of the platform, which has bindings besides variables. A request without its store is answered 503, and logged.
        return undefined
      }
    },
    keyStore: (env, server) => storeFor(openedFor(env)!.store, audienceOf(named ?? server, env)),
  }
}

function open(store: unknown, cacheMs: number): Opened {
  requireStore('apiKeys', store)
  return { store, lookUp: createLookUp(store, cacheMs), noteUse: createUses(store) }
}

function refusalOf(token: string): InvalidTokenError {
  return token.startsWith('mk_')
    ? new InvalidTokenError('The API key is not complete: a character is missing or wrong.')
    : new UnknownTokenError('The token is not an API key of this server, which begins with mk_.')
}

function causeIn({ fault }: KeyStore): ErrorOptions {
  return fault === undefined ? {} : { cause: new TypeError(fault) }
}

/** Says so only to who has the key. */
function refuseForeign(key: StoredKey, audience: Audience): void {
  if (isFor(audience, key)) return
  const { id, name, server } = key
  const cause = `The API key ${JSON.stringify(name)} (mk_${id}) has no "server", so it is accepted nowhere: make a new one with mayfly keys create.`
  throw new InvalidTokenError(
    'The API key is for another server or stage.',
    server === undefined ? { cause: new TypeError(cause) } : {},
  )
}

/** Says what is wrong only to who has the key. */
function refuseEnded({ revokedAt, expiresAt }: StoredKey): void {
  if (revokedAt !== undefined) throw new InvalidTokenError('The API key was revoked.')
  if (expiresAt !== undefined && expiresAt <= Date.now())
    throw new InvalidTokenError('The API key has expired.')
}

function toAnswer({ id, name, owner = name, scopes, expiresAt }: StoredKey) {
  return {
    clientId: owner,
    scopes,
    ...(expiresAt !== undefined && { expiresAt: Math.ceil(expiresAt / 1000) }),
    extra: { sub: owner, keyId: id, keyName: name },
  }
}
