/** The table of a task store, and the function that limits an owner's open tasks. */
import { serverName } from '../../src/definition/server-name.ts'
import { type Names, requireOptions } from '../../src/definition/unknown-option.ts'
import { migrationOf, type Part, SCHEMA, schemaOf } from './migration.ts'

/** A server and its stage, which name its table. */
export interface PostgresTaskOwner {
  /** The server's `id`. */
  readonly server: string
  /** As `MAYFLY_STAGE`. Default: none, which is production. */
  readonly stage?: string
}

const OWNER: Names<PostgresTaskOwner> = { server: 'string', stage: 'string' }

/** The default table of a server, from its name: `mayfly.shop_tasks` from `mayfly_shop`. */
export function toTaskTable(name: string): string {
  const own = name.slice(`${SCHEMA}_`.length)
  // A digit at the start would need quotes.
  return `${SCHEMA}.${/^\d/.test(own) ? '_' : ''}${own}_tasks`
}

/** @throws TypeError for an invalid name, or neither a name nor a server. */
export function toTable(of: string | PostgresTaskOwner, where: string): string {
  if (typeof of === 'string') {
    checkTable(of)
    return of
  }
  requireOptions(where, of, OWNER, 'server')
  return toTaskTable(serverName(of.server, of.stage))
}

/** Postgres truncates longer names; the names of the indexes and of the function are up to seven characters longer than the table's. */
const TABLE = /^(?:[a-z_][a-z0-9_]{0,49}\.)?[a-z_][a-z0-9_]{0,49}$/

/** @throws TypeError for a name that needs quotes in SQL. */
export function checkTable(table: string, kind = 'task'): void {
  if (typeof table !== 'string' || !TABLE.test(table))
    throw new TypeError(
      `"table" of a Postgres ${kind} store must be a name of at most 50 lower case letters, digits and "_", optionally with a schema.`,
    )
}

/**
 * The SQL that creates the table of `postgresTaskStore`, for your own migrations. Safe to run again. One table is enough, since the steps
 * of a task are in its state, which is replaced as a whole.
 *
 * @param of The store's option `table`; or the server, `{ server: 'shop' }`, and its stage, as the store without that option.
 * @throws TypeError for an invalid name.
 */
export function postgresTaskSchema(of: string | PostgresTaskOwner): string {
  const table = toTable(of, 'postgresTaskSchema')
  return schemaOf(table, partsOf(table))
}

const CREATE_TYPES = 'text, text, bigint, boolean, bigint, bigint, text, text, bigint, bigint'

function partsOf(table: string): readonly Part[] {
  const name = table.split('.').at(-1)!
  const body = createBody(table)
  return [
    {
      isMissing: `to_regclass('${table}') IS NULL`,
      sql: `CREATE TABLE IF NOT EXISTS ${table} (
  id text PRIMARY KEY,
  owner text NOT NULL,
  version bigint NOT NULL,
  is_open boolean NOT NULL,
  due_at bigint, -- milliseconds since the epoch, like expires_at
  expires_at bigint,
  state text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  open_at_most bigint NOT NULL -- upper bound of the owner's open tasks when this one was created
);`,
    },
    {
      isMissing: `NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('${table}') AND attname = 'server' AND NOT attisdropped)`,
      sql: `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS server text; -- NULL: any server's`,
    },
    {
      isMissing: `to_regclass('${table}_next') IS NULL`,
      sql: `CREATE INDEX IF NOT EXISTS ${name}_next ON ${table} (server, due_at) WHERE is_open AND due_at IS NOT NULL;
DROP INDEX IF EXISTS ${table}_due;`,
    },
    {
      isMissing: `to_regclass('${table}_open') IS NULL`,
      sql: `CREATE INDEX IF NOT EXISTS ${name}_open ON ${table} (owner, seq) WHERE is_open;`,
    },
    {
      isMissing: `to_regclass('${table}_end') IS NULL`,
      sql: `CREATE INDEX IF NOT EXISTS ${name}_end ON ${table} (expires_at) WHERE expires_at IS NOT NULL;`,
    },
    {
      // Compared by its text, since a later version may change it.
      isMissing: `(SELECT prosrc FROM pg_proc WHERE oid = to_regprocedure('${table}_create(${CREATE_TYPES})')) IS DISTINCT FROM $create$${body}$create$`,
      sql: `
-- 1: created. 0: the owner has max_open open tasks. -1: the id exists.
-- A function, since each of its statements sees what was committed before it. A single statement that locks and then counts would
-- use the count from before it waited for the lock. It counts only if there may be too many, since counting is slow if
-- thousands are open.
-- The function of the version before has one parameter less, and stays for its processes.
CREATE OR REPLACE FUNCTION ${table}_create(
  new_id text, new_owner text, new_version bigint, new_is_open boolean, new_due_at bigint, new_expires_at bigint,
  new_state text, new_server text, max_open bigint, now_ms bigint
) RETURNS integer LANGUAGE plpgsql AS $create$${body}$create$;`,
    },
  ]
}

function createBody(table: string): string {
  return `
DECLARE
  at_most bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('${table}'), hashtext(new_owner));
  IF EXISTS (SELECT FROM ${table} WHERE id = new_id AND (expires_at IS NULL OR expires_at > now_ms)) THEN
    RETURN -1;
  END IF;
  at_most := coalesce(
    (SELECT open_at_most FROM ${table} WHERE owner = new_owner AND is_open ORDER BY seq DESC LIMIT 1), 0);
  IF at_most >= max_open THEN
    SELECT count(*) INTO at_most FROM (
      SELECT FROM ${table} WHERE owner = new_owner AND is_open AND (expires_at IS NULL OR expires_at > now_ms)
        LIMIT max_open) AS open_tasks;
    IF at_most >= max_open THEN
      RETURN 0;
    END IF;
  END IF;
  DELETE FROM ${table} WHERE id = new_id AND expires_at <= now_ms;
  INSERT INTO ${table} (id, owner, version, is_open, due_at, expires_at, state, server, open_at_most)
    VALUES (new_id, new_owner, new_version, new_is_open, new_due_at, new_expires_at, new_state, new_server, at_most + 1)
    ON CONFLICT (id) DO NOTHING;
  RETURN CASE WHEN FOUND THEN 1 ELSE -1 END;
END
`
}

/** What the database lacks of the schema, as one statement. */
export function toMigration(table: string): string {
  return migrationOf(table, partsOf(table))
}
