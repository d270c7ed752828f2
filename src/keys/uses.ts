/** Stores when a key was last used: once an hour, after the call, which it neither delays nor fails. */

import { type Bucket, fill } from '../definition/leaky-bucket.ts'
import { printError } from '../definition/print-error.ts'
import { setNewest } from '../definition/set-newest.ts'
import { withTimeout } from '../definition/timeout.ts'
import { type KeyStore, type StoredKey, storeError } from './store.ts'

export const USED_EVERY_MS = 3_600_000
/** After a write that failed. */
const RETRY_MS = 300_000
const WRITE_TIMEOUT_MS = 3000
/** Keys whose last write is remembered; the oldest is forgotten first. */
const MAX_REMEMBERED = 1000
/** Writes at once, and for each second after them. */
const WRITES = 20

/** @param waitUntil Keeps the invocation alive. */
export type NoteUse = (key: StoredKey, waitUntil: ((work: Promise<unknown>) => void) | undefined) => void

export function createUses(store: KeyStore): NoteUse {
  /** When the next write of a key is due, in milliseconds since the epoch. */
  const dueAt = new Map<string, number>()
  let bucket: Bucket | undefined
  let isDown = false

  const write = async (id: string, now: number): Promise<void> => {
    try {
      await withTimeout(store.use!(id, now), WRITE_TIMEOUT_MS, 'store of API keys')
      isDown = false
    } catch (error) {
      if (dueAt.has(id)) dueAt.set(id, now + RETRY_MS)
      // Each outage is reported once.
      if (isDown) return
      isDown = true
      throw new Error(storeError(error), { cause: error })
    }
  }

  return (key, waitUntil) => {
    const now = Date.now()
    if (store.use === undefined || now < (dueAt.get(key.id) ?? 0)) return
    if (now - (key.lastUsedAt ?? 0) < USED_EVERY_MS) return
    bucket = fill(bucket, WRITES, 1000 / WRITES)
    // The next call with this key tries again.
    if (bucket.waitMs > 0) return
    setNewest(dueAt, key.id, now + USED_EVERY_MS, MAX_REMEMBERED)
    const written = write(key.id, now)
    if (waitUntil === undefined) written.catch(printError)
    else waitUntil(written)
  }
}
