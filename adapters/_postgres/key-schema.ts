/** The table of API keys. */
import { checkTable } from './task-schema.ts'

/**
 * The SQL that creates the table of `postgresKeyStore`, for your own migrations. Safe to run again.
 *
 * @param table The store's option. Default `mayfly_keys`.
 * @throws TypeError for an invalid name.
 */
export function postgresKeySchema(table = 'mayfly_keys'): string {
  checkTable(table, 'key')
  return `CREATE TABLE IF NOT EXISTS ${table} (
  id text PRIMARY KEY,
  record text NOT NULL, -- JSON: name, owner, scopes, a hash of the key, and when it was made and expires
  revoked_at bigint, -- milliseconds since the epoch
  last_used_at bigint
);
`
}
