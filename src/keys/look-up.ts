/** Finds keys by their ids, and remembers them for a moment. */

import { createCircuitBreaker } from '../auth/circuit-breaker.ts'
import { VerifierUnavailableError } from '../auth/verifier.ts'
import { setNewest } from '../definition/set-newest.ts'
import { withTimeout } from '../definition/timeout.ts'
import { createKeyText } from './key.ts'
import { type KeyStore, type StoredKey, storeError, toStoredKey } from './store.ts'

/** Milliseconds for one answer of a store. */
const READ_TIMEOUT_MS = 3000

/** Maximum keys remembered, separately for unknown ids, so that they do not displace keys. */
const MAX_REMEMBERED = 1000

interface Remembered {
  readonly key: StoredKey | undefined
  readonly until: number
}

/** @throws VerifierUnavailableError if the store fails. While it is down, it is asked once in up to 5 seconds. */
export type LookUp = (id: string) => Promise<StoredKey | undefined>

export function createLookUp(store: KeyStore, cacheMs: number): LookUp {
  const known = new Map<string, Remembered>()
  const unknown = new Map<string, Remembered>()
  const read = async (id: string): Promise<StoredKey | undefined> => {
    try {
      return toKey(await withTimeout(store.read(id), READ_TIMEOUT_MS, 'store of API keys'), id)
    } catch (cause) {
      throw new VerifierUnavailableError(storeError(cause), { cause })
    }
  }
  // Whether the store is down is judged by an id that no caller has chosen.
  const breaker = createCircuitBreaker(() => read(createKeyText().id))

  return async (id) => {
    const now = Date.now()
    const remembered = known.get(id) ?? unknown.get(id)
    if (remembered !== undefined && remembered.until > now) return remembered.key
    const key = await breaker(() => read(id))
    known.delete(id)
    unknown.delete(id)
    const cache = key === undefined ? unknown : known
    // From before the read: what was revoked during it is not remembered longer.
    if (cacheMs > 0) setNewest(cache, id, { key, until: now + cacheMs }, MAX_REMEMBERED)
    return key
  }
}

/** A store may be written by anyone. @throws TypeError for what is not this key. */
function toKey(row: unknown, id: string): StoredKey | undefined {
  if (row === undefined || row === null) return undefined
  const key = toStoredKey(row)
  if (key.id !== id) throw new TypeError('It returned a key with another id than the one it was asked for.')
  return key
}
