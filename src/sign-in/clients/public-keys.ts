/** The public keys of clients, as a JWK set (RFC 7517 §5) or the URL of one, which is asked as rarely as possible. */
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { createShare } from '../../definition/flights.ts'
import { isObject } from '../../definition/is-object.ts'
import { fetchPublicJson } from './public-fetch.ts'

/** With certificates, keys are larger than a document. */
const MAX_BYTES = 65_536
const FRESH_MS = 600_000
/** Between two requests, also for an unknown key and after a failure. */
const COOLDOWN_MS = 30_000
/** How long keys are used while their URL does not answer. */
const KEPT_MS = 86_400_000

export function keysIn(found: unknown): JWTVerifyGetKey {
  const all = isObject(found) && Array.isArray(found.keys) ? found.keys : []
  // A key proves nothing whose private part is there for everyone.
  const keys = all.filter((key) => isObject(key) && !('d' in key) && !('k' in key))
  return createLocalJWKSet({ keys: keys as JSONWebKeySet['keys'] })
}

/** `allow` is called before a request, and rejects if there must be none. */
export type KeysAt = (allow?: () => Promise<void>) => JWTVerifyGetKey

/** Rejects with UnreachableUrlError or RefusedUrlError. */
export function keysAt(url: string, fetch: typeof globalThis.fetch): KeysAt {
  let known: { readonly find: JWTVerifyGetKey; readonly at: number } | undefined
  let failure: unknown
  let askedAt = Number.NEGATIVE_INFINITY
  const share = createShare<void>('URL of keys')
  const ask = async (): Promise<void> => {
    askedAt = Date.now()
    try {
      known = { find: keysIn((await fetchPublicJson(url, fetch, MAX_BYTES)).value), at: askedAt }
      failure = undefined
    } catch (cause) {
      failure = cause
    }
  }
  return (allow) => async (header, token) => {
    const now = Date.now()
    const mayAsk = now - askedAt >= COOLDOWN_MS
    if (known !== undefined && now - known.at < FRESH_MS) {
      try {
        return await known.find(header, token)
      } catch (error) {
        // It may be a new key.
        if (!mayAsk) throw error
      }
    }
    if (mayAsk) await allow?.()
    // Those who come while it is asked wait for it, too.
    await share.run(url, async () => {
      if (mayAsk) await ask()
    })
    if (known === undefined || (failure !== undefined && now - known.at > KEPT_MS)) throw failure
    return known.find(header, token)
  }
}
