/** A store in the memory of one process, for development and tests. */
import { compareKeys, isEntryKey, RECEIPT_MS, toCommit, toRange } from './commit.ts'
import { createSortedKeys } from './sorted-keys.ts'
import type { KeyedEntry, KeyedStore, KeyedWrite } from './store.ts'

/** Entries that a commit looks at, to delete expired ones: several times as many as it adds. */
const SWEPT = 100

/** Expired entries are deleted, others are not limited in number. */
export function createMemoryKeyed(): KeyedStore {
  const entries = new Map<string, KeyedEntry>()
  const sorted = createSortedKeys()
  const put = (key: string, entry: KeyedEntry): void => {
    if (!entries.has(key)) sorted.add(key)
    entries.set(key, entry)
  }
  const remove = (key: string): void => {
    if (entries.delete(key)) sorted.delete(key)
  }
  const current = (key: string): KeyedEntry | undefined => {
    const entry = entries.get(key)
    if (entry?.expiresAt === undefined || entry.expiresAt > Date.now()) return entry
    remove(key)
    return undefined
  }
  let swept = entries.keys()
  const sweep = (): void => {
    for (let count = 0; count < SWEPT; count++) {
      const { value, done } = swept.next()
      if (done) {
        swept = entries.keys()
        return
      }
      current(value)
    }
  }
  return {
    isLocal: true,
    async read(key) {
      return isEntryKey(key) ? current(key) : undefined
    },
    async commit(given, made) {
      const { version, writes, receipt, digest } = await toCommit(given, made)
      const before = current(receipt)
      if (before !== undefined) return before.value === digest
      const isAsDemanded = ({ key, ifVersion }: KeyedWrite): boolean =>
        ifVersion === undefined || (current(key)?.version ?? null) === ifVersion
      if (!writes.every(isAsDemanded)) return false
      for (const { key, value, expiresAt, isCheck } of writes) {
        if (isCheck === true) continue
        if (value === undefined) remove(key)
        else put(key, { value, version, ...(expiresAt !== undefined && { expiresAt }) })
      }
      put(receipt, { value: digest, version, expiresAt: Date.now() + RECEIPT_MS })
      sweep()
      return true
    },
    async list(options) {
      const range = toRange(options)
      if (range === undefined) return { keys: [] }
      const { from, to, after, limit } = range
      const keys: string[] = []
      const expired: string[] = []
      const now = Date.now()
      for (const key of sorted.from(compareKeys(from, after) > 0 ? from : after)) {
        if (compareKeys(key, to) >= 0 || keys.length > limit) break
        if ((entries.get(key)?.expiresAt ?? Number.POSITIVE_INFINITY) <= now) expired.push(key)
        else if (key !== after) keys.push(key)
      }
      for (const key of expired) remove(key)
      const page = keys.slice(0, limit)
      return { keys: page, ...(page.length < keys.length && { next: page.at(-1) }) }
    },
  }
}
