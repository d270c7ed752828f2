/**
 * Tasks in a table of Postgres. Each operation is one statement without a session or a transaction, so that any driver and any pooler
 * works, including HTTP drivers.
 */

import { memberOf } from '../../src/definition/error-text.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { fairPage } from '../../src/tasks/fair-page.ts'
import type { TaskStore } from '../../src/tasks/store.ts'
import { CursorError, checkTask, createDuplicateError, isTaskId } from '../../src/tasks/stored.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'
import { refuseTypeFetch } from './fetch-types.ts'
import { type Row, toTask, toValues } from './task-row.ts'
import { checkTable, toMigration } from './task-schema.ts'

/**
 * `postgres(url, { fetch_types: false })` of the library `postgres`, a `Pool` of `pg`, `neon(url)` of `@neondatabase/serverless`, PGlite: anything with a function
 * that takes SQL and parameters.
 */
export type PostgresClient =
  | { query(text: string, parameters?: (string | null)[]): PromiseLike<unknown> }
  | { unsafe(text: string, parameters?: (string | null)[]): PromiseLike<unknown> }

/** Options of `postgresTaskStore`. */
export interface PostgresTaskStoreOptions extends OutageOptions {
  /** Lower case letters, digits and `_`, optionally with a schema, such as `private.tasks`. Default `mayfly_tasks`. */
  readonly table?: string
  /**
   * Calls `migrate` before the first operation, and again while that fails: the server starts although the database cannot be reached.
   * Needs the right to create. Default false.
   */
  readonly createTable?: boolean
}

const OPTIONS: Names<PostgresTaskStoreOptions> = {
  table: 'string',
  createTable: 'boolean',
  ...OUTAGE_OPTIONS,
}

export interface PostgresTaskStore extends TaskStore {
  /** Creates the table if it does not exist. Several processes may do so concurrently. Needs the right to create. */
  migrate(): Promise<void>
  /** Deletes the rows of expired tasks, and resolves with their number. `due` does so about once a minute. */
  purge(): Promise<number>
}

/** Maximum bytes of one task. Postgres accepts more, but each step writes all of it. */
const MAX_STATE_BYTES = 1_000_000

/** Maximum due tasks that are counted, of a server and of none. */
const MAX_COUNTED = 10_000

const PURGE_EVERY_MS = 60_000

/** Maximum rows that one statement deletes. */
const PURGED_AT_ONCE = 1000

/** Rows that one page of `list` looks at. */
const SEEN_AT_ONCE = 1000

const COLUMNS = 'id, owner, version, is_open, due_at, expires_at, state, server'

/** Error codes for a missing table, function, schema or column. */
const MISSING = new Set(['42P01', '42883', '3F000', '42703'])

/** Not `now()`, which is when a transaction began. */
const NOW = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now'

type Statement = readonly [text: string, ...parameters: (string | number | boolean | null)[]]

/**
 * Creates a task store in Postgres, for servers with many processes. While Postgres is down, it rejects within `timeoutMs` (default 5000);
 * a rejected write may still succeed. The limit for an owner's open tasks holds at the isolation level `READ COMMITTED`, which is
 * the default of Postgres.
 *
 * @throws TypeError for a table whose name would need quotes, and for a client of `postgres` with `fetch_types`.
 */
export function postgresTaskStore(
  client: PostgresClient,
  options: PostgresTaskStoreOptions = {},
): PostgresTaskStore {
  requireClient('postgresTaskStore', client, 'pg or postgres')
  refuseUnknown('postgresTaskStore', options, OPTIONS)
  const { table = 'mayfly_tasks', createTable = false } = options
  checkTable(table)
  refuseTypeFetch(client, 'postgresTaskStore')
  const sql = toStatements(table)
  // A pool emits the errors of its idle connections.
  const report = toReport(options, 'Postgres')
  watchConnection(client, outagesOf(client, report))
  const ask = createStoreAsk(options, 'Postgres')
  let purgedAt = Number.NEGATIVE_INFINITY

  let migrated: Promise<unknown> | undefined
  const migrateOnce = (): Promise<unknown> => {
    migrated ??= run(toMigration(table)).catch((error: unknown) => {
      migrated = undefined
      throw error
    })
    return migrated
  }

  const query = async (...statement: Statement): Promise<Row[]> => {
    if (createTable) await migrateOnce()
    return run(...statement)
  }
  /** Parameters are text, which libraries do not convert. */
  const run = async (...[text, ...parameters]: Statement): Promise<Row[]> => {
    const values = parameters.map((value) => (value === null ? null : String(value)))
    try {
      const result = await ask(() =>
        'query' in client ? client.query(text, values) : client.unsafe(text, values),
      )
      return Array.isArray(result) ? (result as Row[]) : (result as { rows: Row[] }).rows
    } catch (error) {
      if (!MISSING.has(String(memberOf(error, 'code')))) throw error
      throw new Error(
        `The task table "${table}" is missing, or of an older version: call migrate() of the store once, or run the SQL of postgresTaskSchema().`,
        { cause: error },
      )
    }
  }
  const clock = createMeasuredClock(async () => Number((await query(NOW))[0]!.now))
  const purge = async (): Promise<number> => {
    purgedAt = performance.now()
    const now = clock.now()
    for (let deleted = 0; ; ) {
      const { length } = await query(sql.purge, now)
      deleted += length
      if (length < PURGED_AT_ONCE) return deleted
    }
  }
  return {
    maxStateBytes: MAX_STATE_BYTES,
    purge,
    clockOffsetMs: clock.offsetMs,
    async migrate() {
      await run(toMigration(table))
    },
    async create(task, maxOpen) {
      checkTask(task, MAX_STATE_BYTES)
      const limit = Math.min(maxOpen, Number.MAX_SAFE_INTEGER)
      const [row] = await query(sql.create, ...toValues(task), limit, clock.now())
      const result = Number(row!.result)
      if (result < 0) throw createDuplicateError()
      return result === 1
    },
    async read(id) {
      if (!isTaskId(id)) return undefined
      const [row] = await query(sql.read, id, clock.now())
      return row && toTask(row)
    },
    async replace(task) {
      checkTask(task, MAX_STATE_BYTES)
      const { length } = await query(sql.replace, ...toValues(task), clock.now())
      return length === 1
    },
    async due(now, limit, { server, perOwner = limit } = {}) {
      const ids = await fairPage(limit, perOwner, async (without) => {
        const rows =
          server === undefined
            ? await query(sql.due, now, limit)
            : await query(sql.dueOf, now, limit, server, JSON.stringify(without))
        return rows.map(({ id, owner, due_at }) => ({
          id: String(id),
          owner: String(owner),
          dueAt: Number(due_at),
        }))
      })
      // Errors are ignored, since a later purge tries again.
      if (performance.now() - purgedAt >= PURGE_EVERY_MS) await purge().catch(report)
      return ids
    },
    async stats(now, { server }) {
      const [row] = await query(sql.stats, now, MAX_COUNTED, server)
      return { due: Number(row!.due), oldestDueAt: row!.oldest === null ? null : Number(row!.oldest) }
    },
    async list({ server = null, after = '', limit }) {
      if (after !== '' && !isTaskId(after)) throw new CursorError()
      const rows = await query(sql.list, server, after, limit, clock.now())
      // Without tasks it is one row, with only what was seen.
      const tasks = rows.filter(({ id }) => id !== null).map(toTask)
      const { last_seen, seen } = rows[0]!
      const next =
        tasks.length >= limit ? tasks.at(-1)!.id : Number(seen) < SEEN_AT_ONCE ? undefined : last_seen
      return { tasks, ...(next !== undefined && { next: String(next) }) }
    },
  }
}

function toStatements(table: string) {
  const unexpired = (now: string): string => `(expires_at IS NULL OR expires_at > ${now}::text::bigint)`
  const dueOf = (whose: string, more = ''): string =>
    `SELECT id, owner, due_at FROM ${table} WHERE ${whose} AND is_open AND due_at <= $1::text::bigint AND ${unexpired('$1')}
${more} ORDER BY due_at LIMIT $2::text::bigint`
  const bothParts = (more?: string): string =>
    `(${dueOf('server = $3::text', more)}) UNION ALL (${dueOf('server IS NULL', more)})`
  const values = `$1::text, $2::text, $3::text::bigint, $4::text::boolean, $5::text::bigint, $6::text::bigint, $7::text, $8::text`
  return {
    create: `SELECT ${table}_create(${values}, $9::text::bigint, $10::text::bigint) AS result`,
    read: `SELECT ${COLUMNS} FROM ${table} WHERE id = $1::text AND ${unexpired('$2')}`,
    replace: `UPDATE ${table} SET (id, owner, version, is_open, due_at, expires_at, state, server) = (${values})
WHERE id = $1::text AND version = $3::text::bigint - 1 AND ${unexpired('$9')} RETURNING id`,
    // Without locks, which would end with the statement. If two processes run one task, the version stops one of them.
    due: `SELECT id, owner, due_at FROM ${table} WHERE is_open AND due_at <= $1::text::bigint AND ${unexpired('$1')}
ORDER BY due_at LIMIT $2::text::bigint`,
    // Both parts are read in the order of the index.
    dueOf: `${bothParts('AND owner NOT IN (SELECT json_array_elements_text($4::text::json))')} ORDER BY due_at LIMIT $2::text::bigint`,
    stats: `SELECT count(*)::text AS due, min(due_at)::text AS oldest FROM (${bothParts()}) AS due_tasks`,
    // Of many tasks of other servers, a page looks at a bounded number.
    list: `WITH seen AS (
  SELECT id, ($1::text IS NULL OR server IS NULL OR server = $1::text) AND ${unexpired('$4')} AS is_own
  FROM ${table} WHERE id > $2::text ORDER BY id LIMIT ${SEEN_AT_ONCE}
), own AS (SELECT id AS own_id FROM seen WHERE is_own ORDER BY id LIMIT $3::text::bigint)
SELECT ${COLUMNS}, last_seen, seen FROM (SELECT max(id) AS last_seen, count(*)::text AS seen FROM seen) AS total
LEFT JOIN (own JOIN ${table} ON id = own_id) ON true ORDER BY id`,
    // Concurrent deletions take different rows.
    purge: `DELETE FROM ${table} WHERE id = ANY(ARRAY(
  SELECT id FROM ${table} WHERE expires_at <= $1::text::bigint LIMIT ${PURGED_AT_ONCE} FOR UPDATE SKIP LOCKED
)) RETURNING id`,
  }
}
