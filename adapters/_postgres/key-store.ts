/** API keys in a table of Postgres. Each operation is one statement, so that any driver and any pooler works. */
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { fromRecord, type KeyStore, toRecord } from '../../src/keys/store.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { refuseTypeFetch } from './fetch-types.ts'
import { postgresKeySchema } from './key-schema.ts'
import { createRun, MISSING_TABLE, type PostgresClient } from './run.ts'
import type { Row } from './task-row.ts'
import { checkTable } from './task-schema.ts'

/** Options of `postgresKeyStore`. */
export interface PostgresKeyStoreOptions extends OutageOptions {
  /** Lower case letters, digits and `_`, optionally with a schema, such as `private.keys`. Default `mayfly_keys`. */
  readonly table?: string
}

const OPTIONS: Names<PostgresKeyStoreOptions> = { table: 'string', ...OUTAGE_OPTIONS }

export interface PostgresKeyStore extends KeyStore {
  /** Creates the table if it does not exist. Several processes may do so concurrently. Needs the right to create. */
  migrate(): Promise<void>
}

/**
 * Creates a store of API keys in Postgres, for `apiKeys` of `mayfly-mcp/keys`. While Postgres is down, it rejects within `timeoutMs`
 * (default 5000).
 *
 * @throws TypeError for a table whose name would need quotes, and for a client of `postgres` with `fetch_types`.
 */
export function postgresKeyStore(
  client: PostgresClient,
  options: PostgresKeyStoreOptions = {},
): PostgresKeyStore {
  requireClient('postgresKeyStore', client, 'pg or postgres')
  refuseUnknown('postgresKeyStore', options, OPTIONS)
  const { table = 'mayfly_keys' } = options
  checkTable(table, 'key')
  refuseTypeFetch(client, 'postgresKeyStore')
  // A pool emits the errors of its idle connections.
  watchConnection(client, outagesOf(client, toReport(options, 'Postgres')))
  const ask = createStoreAsk(options, 'Postgres')

  const run = createRun(client, ask, {
    codes: MISSING_TABLE,
    message: () =>
      `The table "${table}" of API keys is missing: call migrate() of the store once, or run the SQL of postgresKeySchema().`,
  })
  const query = (text: string, ...parameters: (string | number)[]): Promise<Row[]> =>
    run(text, parameters.map(String))
  const toKey = ({ record, revoked_at, last_used_at }: Row) =>
    fromRecord(String(record), { revokedAt: revoked_at, lastUsedAt: last_used_at })

  return {
    async migrate() {
      // As one statement, since HTTP drivers only send single statements.
      await query(`DO $migrate$ BEGIN
PERFORM pg_advisory_xact_lock(hashtext('${table}'), 0);
SET LOCAL client_min_messages = warning;
${postgresKeySchema(table)}END $migrate$`)
    },
    async create(key) {
      const insert = `INSERT INTO ${table} (id, record) VALUES ($1::text, $2::text) ON CONFLICT (id) DO NOTHING RETURNING id`
      return (await query(insert, key.id, toRecord(key))).length === 1
    },
    async read(id) {
      const [row] = await query(`SELECT * FROM ${table} WHERE id = $1::text`, id)
      return row && toKey(row)
    },
    async list({ limit, after = '' }) {
      const page = `SELECT * FROM ${table} WHERE id > $1::text ORDER BY id LIMIT $2::text::bigint`
      const keys = (await query(page, after, limit)).map(toKey)
      const next = keys.length < limit ? undefined : keys.at(-1)!.id
      return { keys, ...(next !== undefined && { next }) }
    },
    async revoke(id, revokedAt) {
      const update = `UPDATE ${table} SET revoked_at = coalesce(revoked_at, $2::text::bigint) WHERE id = $1::text RETURNING id`
      return (await query(update, id, revokedAt)).length === 1
    },
    async use(id, lastUsedAt) {
      const update = `UPDATE ${table} SET last_used_at = greatest(last_used_at, $2::text::bigint) WHERE id = $1::text`
      await query(update, id, lastUsedAt)
    },
  }
}
