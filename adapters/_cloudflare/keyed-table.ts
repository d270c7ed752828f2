/** The entries in the storage of a Durable Object. Synchronous, so that no other code runs in between. */
import { type Commit, type KeyRange, RECEIPT_MS } from '../../src/keyed/commit.ts'
import type { KeyedEntry, KeyedPage, KeyedWrite } from '../../src/keyed/store.ts'
import type { ObjectStorage } from './durable-object.ts'

export interface KeyedTable {
  read(key: string, now: number): KeyedEntry | undefined
  commit(commit: Commit, now: number): boolean
  list(range: KeyRange, now: number): KeyedPage
  /** Deletes expired entries. */
  clean(now: number): void
  /** When the next entry expires. Undefined: none does. */
  firstEnd(): number | undefined
}

export function createKeyedTable(storage: ObjectStorage, name: 'grants' | 'events'): KeyedTable {
  const { sql } = storage
  sql.exec(`CREATE TABLE IF NOT EXISTS ${name}
    (key TEXT PRIMARY KEY, value TEXT NOT NULL, version TEXT NOT NULL, expires_at INTEGER) WITHOUT ROWID`)
  sql.exec(`CREATE INDEX IF NOT EXISTS ${name}_end ON ${name} (expires_at) WHERE expires_at IS NOT NULL`)
  const IS_KEPT = '(expires_at IS NULL OR expires_at > ?)'

  const read = (key: string, now: number): KeyedEntry | undefined => {
    const query = `SELECT value, version, expires_at FROM ${name} WHERE key = ? AND ${IS_KEPT}`
    const [row] = sql.exec(query, key, now).toArray()
    if (row === undefined) return undefined
    const { value, version, expires_at } = row
    return {
      value: String(value),
      version: String(version),
      ...(expires_at !== null && { expiresAt: Number(expires_at) }),
    }
  }
  const write = ({ key, value, expiresAt }: KeyedWrite, version: string): void => {
    if (value === undefined) sql.exec(`DELETE FROM ${name} WHERE key = ?`, key)
    else
      sql.exec(
        `INSERT OR REPLACE INTO ${name} (key, value, version, expires_at) VALUES (?, ?, ?, ?)`,
        key,
        value,
        version,
        expiresAt ?? null,
      )
  }
  return {
    read,
    commit({ version, writes, receipt, digest }, now) {
      const before = read(receipt, now)
      if (before !== undefined) return before.value === digest
      const isAsDemanded = ({ key, ifVersion }: KeyedWrite): boolean =>
        ifVersion === undefined || (read(key, now)?.version ?? null) === ifVersion
      if (!writes.every(isAsDemanded)) return false
      storage.transactionSync(() => {
        for (const one of writes) if (one.isCheck !== true) write(one, version)
        write({ key: receipt, value: digest, expiresAt: now + RECEIPT_MS }, version)
      })
      return true
    },
    list({ from, to, after, limit }, now) {
      const query = `SELECT key FROM ${name} WHERE key >= ? AND key < ? AND key > ? AND ${IS_KEPT} ORDER BY key LIMIT ?`
      const keys = sql
        .exec(query, from, to, after, now, limit)
        .toArray()
        .map(({ key }) => String(key))
      return { keys, ...(keys.length === limit && { next: keys.at(-1) }) }
    },
    clean(now) {
      sql.exec(`DELETE FROM ${name} WHERE expires_at <= ?`, now)
    },
    firstEnd() {
      const [row] = sql
        .exec(`SELECT min(expires_at) AS first FROM ${name} WHERE expires_at IS NOT NULL`)
        .toArray()
      return row?.first == null ? undefined : Number(row.first)
    },
  }
}
