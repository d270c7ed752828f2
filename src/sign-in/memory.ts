/** Grants in the memory of one process, for development and tests. */
import type { GrantEntry, GrantStore, GrantWrite } from './store.ts'

/** Creates a store in memory: its entries are lost with the process, and other processes do not have them. */
export function createMemoryGrants(): GrantStore {
  const entries = new Map<string, GrantEntry>()
  const current = (key: string): GrantEntry | undefined => {
    const entry = entries.get(key)
    if (entry?.expiresAt === undefined || entry.expiresAt > Date.now()) return entry
    entries.delete(key)
    return undefined
  }
  /** A deletion leaves nothing to compare: it was made before if its entry is gone and another write of this commit is there. */
  const wasMade = (version: string, writes: readonly GrantWrite[]): boolean => {
    const made = writes.filter(({ isCheck }) => isCheck !== true)
    const stored = made.filter(({ value }) => value !== undefined)
    return stored.length > 0 && stored.every(({ key }) => entries.get(key)?.version === version)
  }
  return {
    isLocal: true,
    async read(key) {
      return current(key)
    },
    async commit(version, writes) {
      if (wasMade(version, writes)) return true
      const isAsDemanded = ({ key, ifVersion }: GrantWrite): boolean =>
        ifVersion === undefined || (current(key)?.version ?? null) === ifVersion
      if (!writes.every(isAsDemanded)) return false
      for (const { key, value, expiresAt, isCheck } of writes) {
        if (isCheck === true) continue
        if (value === undefined) entries.delete(key)
        else entries.set(key, { value, version, ...(expiresAt !== undefined && { expiresAt }) })
      }
      return true
    },
    async list({ prefix, limit, after = '' }) {
      const keys = [...entries.keys()].filter(
        (key) => key.startsWith(prefix) && key > after && current(key) !== undefined,
      )
      keys.sort()
      const page = keys.slice(0, limit)
      return { keys: page, ...(page.length < keys.length && { next: page.at(-1) }) }
    },
  }
}
