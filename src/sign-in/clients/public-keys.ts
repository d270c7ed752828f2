/** The public keys of clients, as a JWK set (RFC 7517 §5) or the URL of one. */
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isObject } from '../../definition/is-object.ts'
import { fetchPublicJson } from './public-fetch.ts'

/** With certificates, keys are larger than a document. */
const MAX_BYTES = 65_536

/** @throws UnreachableUrlError or RefusedUrlError for a URL. */
export async function keysOf(
  keys: string | { readonly [member: string]: unknown },
  fetch: typeof globalThis.fetch,
): Promise<JWTVerifyGetKey> {
  const found = typeof keys === 'string' ? (await fetchPublicJson(keys, fetch, MAX_BYTES)).value : keys
  const all = isObject(found) && Array.isArray(found.keys) ? found.keys : []
  return createLocalJWKSet({ keys: all as JSONWebKeySet['keys'] })
}
