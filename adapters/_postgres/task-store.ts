/**
 * Tasks in a table of Postgres. Each operation is one statement without a session or a transaction, so that any driver and any pooler
 * works, including HTTP drivers.
 */

import { keepUnlessFailed } from '../../src/definition/keep-unless-failed.ts'
import { stageIn } from '../../src/definition/stage.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { fairPage } from '../../src/tasks/fair-page.ts'
import type { TaskStore } from '../../src/tasks/store.ts'
import { CursorError, checkTask, createDuplicateError, isTaskId } from '../../src/tasks/stored.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createOwnedName } from '../_bus/owned-name.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'
import { refuseTypeFetch } from './fetch-types.ts'
import { createRun, MISSING_SCHEMA, type PostgresClient, runMigration } from './run.ts'
import { type Row, toTask, toValues } from './task-row.ts'
import { checkTable, type PostgresTaskOwner, toMigration, toTable, toTaskTable } from './task-schema.ts'
import { createStatements, PURGED_AT_ONCE, SEEN_AT_ONCE } from './task-statements.ts'

/** Options of `postgresTaskStore`. */
export interface PostgresTaskStoreOptions extends OutageOptions {
  /**
   * Lower case letters, digits and `_`, optionally with a schema, such as `private.tasks`. Default: of the server and its stage, such as
   * `mayfly.shop_tasks`, in the schema `mayfly`.
   */
  readonly table?: string
  /**
   * Calls `migrate` before the first operation, and again while that fails: the server starts although the database cannot be reached.
   * Needs the right to create where something is missing; otherwise it only looks, and locks nothing. Default false.
   */
  readonly createTable?: boolean
}

const OPTIONS: Names<PostgresTaskStoreOptions> = {
  table: 'string',
  createTable: 'boolean',
  ...OUTAGE_OPTIONS,
}

export interface PostgresTaskStore extends TaskStore {
  /**
   * Creates the table if it does not exist, and the schema `mayfly` for it. Several processes may do so concurrently. Needs the right to
   * create.
   *
   * @param of The server, `{ server: 'shop' }`, before the store was given to `MCPServer`, and without the option `table`. Its stage is
   * `MAYFLY_STAGE` of the process, unless it is given.
   * @throws TypeError if it is not known whose table to create.
   */
  migrate(of?: PostgresTaskOwner): Promise<void>
  /** Deletes the rows of expired tasks, and resolves with their number. `due` does so about once a minute. */
  purge(): Promise<number>
}

/** Maximum bytes of one task. Postgres accepts more, but each step writes all of it. */
const MAX_STATE_BYTES = 1_000_000

/** Maximum due tasks that are counted, of a server and of none. */
const MAX_COUNTED = 10_000

const PURGE_EVERY_MS = 60_000

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
  const { table, createTable = false } = options
  if (table !== undefined) checkTable(table)
  const name = createOwnedName('postgresTaskStore', 'table', table, toTaskTable)
  refuseTypeFetch(client, 'postgresTaskStore')
  const sql = createStatements(name.get)
  // A pool emits the errors of its idle connections.
  const report = toReport(options, 'Postgres')
  watchConnection(client, outagesOf(client, report))
  const ask = createStoreAsk(options, 'Postgres')
  let purgedAt = Number.NEGATIVE_INFINITY

  const migrateOnce = keepUnlessFailed(() => migrateTable(name.get()), 'migration of the table')

  const migrateTable = (named: string): Promise<void> =>
    runMigration(run, toMigration(named), `The task table "${named}"`)

  const query = async (...statement: Statement): Promise<Row[]> => {
    if (createTable) await migrateOnce()
    const [text, ...parameters] = statement
    return run(
      text,
      parameters.map((value) => (value === null ? null : String(value))),
    )
  }
  const run = createRun(client, ask, {
    codes: MISSING_SCHEMA,
    message: () =>
      `The task table "${name.get()}" is missing, or of an older version: call migrate() of the store once, or run the SQL of postgresTaskSchema(…).`,
  })
  const clock = createMeasuredClock(async () => Number((await query(NOW))[0]!.now))
  const purge = async (): Promise<number> => {
    purgedAt = performance.now()
    const now = clock.now()
    for (let deleted = 0; ; ) {
      const { length } = await query(sql().purge, now)
      deleted += length
      if (length < PURGED_AT_ONCE) return deleted
    }
  }
  return {
    maxStateBytes: MAX_STATE_BYTES,
    purge,
    clockOffsetMs: clock.offsetMs,
    attach: name.attach,
    async migrate(of) {
      const isNamed = of === undefined || table !== undefined
      await migrateTable(isNamed ? name.get() : toTable({ ...stageOfProcess(), ...of }, 'migrate'))
    },
    async create(task, maxOpen) {
      checkTask(task, MAX_STATE_BYTES)
      const limit = Math.min(maxOpen, Number.MAX_SAFE_INTEGER)
      const [row] = await query(sql().create, ...toValues(task), limit, clock.now())
      const result = Number(row!.result)
      if (result < 0) throw createDuplicateError()
      return result === 1
    },
    async read(id) {
      if (!isTaskId(id)) return undefined
      const [row] = await query(sql().read, id, clock.now())
      return row && toTask(row)
    },
    async replace(task) {
      checkTask(task, MAX_STATE_BYTES)
      const { length } = await query(sql().replace, ...toValues(task), clock.now())
      return length === 1
    },
    async due(now, limit, { server, perOwner = limit } = {}) {
      const ids = await fairPage(limit, perOwner, async (without) => {
        const rows =
          server === undefined
            ? await query(sql().due, now, limit)
            : await query(sql().dueOf, now, limit, server, JSON.stringify(without))
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
      const [row] = await query(sql().stats, now, MAX_COUNTED, server)
      return { due: Number(row!.due), oldestDueAt: row!.oldest === null ? null : Number(row!.oldest) }
    },
    async list({ server = null, after = '', limit }) {
      if (after !== '' && !isTaskId(after)) throw new CursorError()
      const rows = await query(sql().list, server, after, limit, clock.now())
      // Without tasks it is one row, with only what was seen.
      const tasks = rows.filter(({ id }) => id !== null).map(toTask)
      const { last_seen, seen } = rows[0]!
      const next =
        tasks.length >= limit ? tasks.at(-1)!.id : Number(seen) < SEEN_AT_ONCE ? undefined : last_seen
      return { tasks, ...(next !== undefined && { next: String(next) }) }
    },
  }
}

function stageOfProcess(): { readonly stage?: string } {
  const stage = stageIn(undefined)
  return stage === undefined ? {} : { stage }
}
