/** A store in the memory of one process, for development and tests. */
import { compareKeys, isEntryKey, RECEIPT_MS, toCommit, toRange } from './commit.ts'
import type { KeyedEntry, KeyedStore, KeyedWrite } from './store.ts'

/** Commits after which expired entries are deleted. */
const COMMITS_PER_SWEEP = 100

/** Expired entries are deleted, others are not limited in number. */
export function createMemoryKeyed(): KeyedStore {
  const entries = new Map<string, KeyedEntry>()
  let commits = 0
  const current = (key: string): KeyedEntry | undefined => {
    const entry = entries.get(key)
    if (entry?.expiresAt === undefined || entry.expiresAt > Date.now()) return entry
    entries.delete(key)
    return undefined
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
        if (value === undefined) entries.delete(key)
        else entries.set(key, { value, version, ...(expiresAt !== undefined && { expiresAt }) })
      }
      entries.set(receipt, { value: digest, version, expiresAt: Date.now() + RECEIPT_MS })
      commits = (commits + 1) % COMMITS_PER_SWEEP
      if (commits === 0) for (const key of entries.keys()) current(key)
      return true
    },
    async list(options) {
      const range = toRange(options)
      if (range === undefined) return { keys: [] }
      const { from, after, limit } = range
      const isListed = (key: string): boolean =>
        key.startsWith(options.prefix) && key >= from && compareKeys(key, after) > 0
      const keys = [...entries.keys()].filter((key) => isListed(key) && current(key) !== undefined)
      keys.sort(compareKeys)
      const page = keys.slice(0, limit)
      return { keys: page, ...(page.length < keys.length && { next: page.at(-1) }) }
    },
  }
}
