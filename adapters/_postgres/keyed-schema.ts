/** The table of a transactional store, and the function that makes a commit. */
import { RECEIPT_MS } from '../../src/keyed/commit.ts'
import { migrationOf, type Part, schemaOf } from './migration.ts'
import { checkTable } from './task-schema.ts'

/** Expired rows that one commit deletes: more than it writes, so that they do not pile up. */
const DELETED_AT_ONCE = 100

/** Milliseconds since the epoch. Not `now()`, which is when a transaction began. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** What the entries of a store are: names it in errors, and its table. */
export type EntryKind = 'grant' | 'event'

/** In the schema `mayfly`, which no platform serves to browsers. */
export function tableOf(kind: EntryKind): string {
  return `mayfly.${kind}s`
}

/** @throws TypeError for an invalid name. */
export function toKeyedSchema(kind: EntryKind, table = tableOf(kind)): string {
  checkTable(table, kind)
  return schemaOf(table, partsOf(kind, table))
}

/** What the database lacks of the schema, as one statement. */
export function toKeyedMigration(kind: EntryKind, table: string): string {
  return migrationOf(table, partsOf(kind, table))
}

function partsOf(kind: EntryKind, table: string): readonly Part[] {
  const name = table.split('.').at(-1)!
  const body = commitBody(kind, table)
  return [
    {
      isMissing: `to_regclass('${table}') IS NULL`,
      sql: `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  version text NOT NULL,
  expires_at bigint -- milliseconds since the epoch
);`,
    },
    {
      isMissing: `to_regclass('${table}_end') IS NULL`,
      sql: `CREATE INDEX IF NOT EXISTS ${name}_end ON ${table} (expires_at) WHERE expires_at IS NOT NULL;`,
    },
    {
      // Compared by its text, since a later version may change it.
      isMissing: `(SELECT prosrc FROM pg_proc WHERE oid = to_regprocedure('${table}_commit(text, text, text, json)')) IS DISTINCT FROM $commit$${body}$commit$`,
      sql: `
-- 1: made, now or before. 0: an entry is not what its write demands.
-- A function, since each of its statements sees what was committed before it: a single statement would compare what was there before it
-- waited for the locks. A lock on each key, since there may be no row to lock.
CREATE OR REPLACE FUNCTION ${table}_commit(new_version text, receipt text, digest text, writes json)
  RETURNS integer LANGUAGE plpgsql AS $commit$${body}$commit$;`,
    },
  ]
}

function commitBody(kind: EntryKind, table: string): string {
  return `
#variable_conflict use_column
DECLARE
  now_ms bigint;
  one record;
BEGIN
  -- Each statement would see what was there when the transaction began.
  IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
    RAISE EXCEPTION 'Commits of ${kind}s need the isolation level READ COMMITTED, the default of Postgres.';
  END IF;
  FOR one IN SELECT DISTINCT hashtext(item->>'key') AS name FROM json_array_elements(writes) AS item ORDER BY name LOOP
    PERFORM pg_advisory_xact_lock(hashtext('${table}'), one.name);
  END LOOP;
  now_ms := ${NOW_MS};
  SELECT value INTO one FROM ${table} WHERE key = receipt;
  IF FOUND THEN
    RETURN CASE WHEN one.value = digest THEN 1 ELSE 0 END;
  END IF;
  FOR one IN SELECT item->>'key' AS name, item->>'is' AS expected FROM json_array_elements(writes) AS item
    WHERE (item->'is') IS NOT NULL LOOP
    IF one.expected IS DISTINCT FROM (
      SELECT version FROM ${table} WHERE key = one.name AND (expires_at IS NULL OR expires_at > now_ms)
    ) THEN
      RETURN 0;
    END IF;
  END LOOP;
  DELETE FROM ${table} WHERE key IN (
    SELECT item->>'key' FROM json_array_elements(writes) AS item WHERE item->>'do' = 'delete');
  INSERT INTO ${table} (key, value, version, expires_at)
    SELECT item->>'key', item->>'value', new_version, (item->>'end')::bigint
      FROM json_array_elements(writes) AS item WHERE item->>'do' = 'set'
    UNION ALL SELECT receipt, digest, new_version, now_ms + ${RECEIPT_MS}
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;
  -- Last, and only rows that nobody holds: a commit never waits for another while it holds rows that that one needs.
  DELETE FROM ${table} WHERE key = ANY(ARRAY(
    SELECT key FROM ${table} WHERE expires_at <= now_ms LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED));
  RETURN 1;
END
`
}
