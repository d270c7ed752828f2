/** API keys in the memory of one process, for tests. */
import { fromRecord, type KeyStore, type StoredKey, toRecord } from './store.ts'

/** Creates a store in memory: its keys are lost with the process, and other processes do not have them. */
export function createMemoryKeyStore(): KeyStore {
  const records = new Map<string, { record: string; revokedAt?: number; lastUsedAt?: number }>()
  const read = (id: string): StoredKey | undefined => {
    const found = records.get(id)
    return found && fromRecord(found.record, { revokedAt: found.revokedAt, lastUsedAt: found.lastUsedAt })
  }
  return {
    isLocal: true,
    async create(key) {
      const record = toRecord(key)
      if (records.has(key.id)) return false
      records.set(key.id, { record })
      return true
    },
    read: async (id) => read(id),
    async list({ limit, after }) {
      const ids = [...records.keys()].sort()
      const keys = ids
        .filter((id) => after === undefined || id > after)
        .slice(0, limit)
        .map((id) => read(id)!)
      const next = keys.at(-1)?.id
      return { keys, ...(next !== undefined && next !== ids.at(-1) && { next }) }
    },
    async revoke(id, revokedAt) {
      const found = records.get(id)
      if (found !== undefined) found.revokedAt ??= revokedAt
      return found !== undefined
    },
    async use(id, lastUsedAt) {
      const found = records.get(id)
      if (found !== undefined) found.lastUsedAt = Math.max(found.lastUsedAt ?? 0, lastUsedAt)
    },
  }
}
