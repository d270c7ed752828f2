/** How the table of a store comes to be, and is brought up to date. */

/** A schema of its own, since some platforms serve all tables of `public` to anyone with a public key. */
export const SCHEMA = 'mayfly'

/** A part of the schema, and the SQL that is true if the database lacks it: even what changes nothing takes locks. */
export interface Part {
  readonly isMissing: string
  readonly sql: string
}

/** The SQL for a user's own migrations. */
export function schemaOf(table: string, parts: readonly Part[]): string {
  const schema = table.startsWith(`${SCHEMA}.`) ? `CREATE SCHEMA IF NOT EXISTS ${SCHEMA};\n` : ''
  return schema + parts.map(({ sql }) => `${sql}\n`).join('')
}

/** How long a change waits for a table that others use. Those who read it next wait behind the change, so only shortly. */
const LOCK_TIMEOUT = '300ms'

/** How long one process waits for another that makes the same changes: less than the store waits for its database. */
const TURN_TIMEOUT = '4s'

/** The code of an error after `LOCK_TIMEOUT`. */
export const LOCK_NOT_AVAILABLE = '55P03'

/**
 * What the database lacks of the schema, as one statement, since HTTP drivers only send single statements. If nothing is missing it locks
 * nothing: it may run at each cold start, while others read for long. Otherwise waits for other processes that do the same.
 */
export function migrationOf(table: string, parts: readonly Part[]): string {
  const isComplete = `IF NOT (${parts.map(({ isMissing }) => isMissing).join('\n  OR ')}) THEN RETURN; END IF;\n`
  // Who may not create schemas may still create tables in one that exists.
  const schema = `PERFORM pg_advisory_xact_lock(hashtext('${SCHEMA}'), 0);
IF to_regnamespace('${SCHEMA}') IS NULL THEN CREATE SCHEMA IF NOT EXISTS ${SCHEMA}; END IF;\n`
  const changes = parts.map(({ isMissing, sql }) => `IF ${isMissing} THEN\n${sql}\nEND IF;\n`).join('')
  return `DO $migrate$ BEGIN
${isComplete}SET LOCAL lock_timeout = '${TURN_TIMEOUT}';
PERFORM pg_advisory_xact_lock(hashtext('${table}'), 0);
SET LOCAL client_min_messages = warning;
${table.startsWith(`${SCHEMA}.`) ? schema : ''}SET LOCAL lock_timeout = '${LOCK_TIMEOUT}';
${changes}END $migrate$`
}
