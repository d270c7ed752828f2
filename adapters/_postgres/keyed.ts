/** A transactional store in a table of Postgres. Each operation is one statement, so that any driver and any pooler works. */
import { keepUnlessFailed } from '../../src/definition/keep-unless-failed.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../../src/events/outage.ts'
import { isEntryKey, toCommit, toRange } from '../../src/keyed/commit.ts'
import type { KeyedStore, KeyedWrite } from '../../src/keyed/store.ts'
import { requireClient } from '../_bus/client.ts'
import { outagesOf, watchConnection } from '../_bus/outages.ts'
import { createStoreAsk } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'
import { refuseTypeFetch } from './fetch-types.ts'
import { type EntryKind, NOW_MS, tableOf, toKeyedMigration } from './keyed-schema.ts'
import { createRun, MISSING_SCHEMA, type PostgresClient, runMigration } from './run.ts'
import type { Row } from './task-row.ts'
import { checkTable } from './task-schema.ts'

/** Options of a store in Postgres. */
export interface PostgresKeyedOptions extends OutageOptions {
  /** Lower case letters, digits and `_`, optionally with a schema, such as `private.grants`. Default `mayfly.grants`, or `mayfly.events`. */
  readonly table?: string
  /**
   * Calls `migrate` before the first operation, and again while that fails. Needs the right to create where something is missing; otherwise
   * it only looks, and locks nothing. Default false.
   */
  readonly createTable?: boolean
}

const OPTIONS: Names<PostgresKeyedOptions> = { table: 'string', createTable: 'boolean', ...OUTAGE_OPTIONS }

/** The store, and what creates its table. */
export interface PostgresKeyed extends KeyedStore {
  /** Creates the table if it does not exist, and the schema `mayfly` for it. Several processes may do so concurrently. Needs the right to create. */
  migrate(): Promise<void>
}

/** What makes such a store: names it in errors. */
export interface PostgresMaker {
  readonly name: string
  readonly kind: EntryKind
  /** The function with its SQL. */
  readonly schema: string
}

/** @throws TypeError for a table whose name would need quotes, and for a client of `postgres` with `fetch_types`. */
export function openKeyedTable(
  { name, kind, schema }: PostgresMaker,
  client: PostgresClient,
  options: PostgresKeyedOptions = {},
): PostgresKeyed {
  requireClient(name, client, 'pg or postgres')
  refuseUnknown(name, options, OPTIONS)
  const { table = tableOf(kind), createTable = false } = options
  checkTable(table, kind)
  refuseTypeFetch(client, name)
  // A pool emits the errors of its idle connections.
  watchConnection(client, outagesOf(client, toReport(options, 'Postgres')))
  const ask = createStoreAsk(options, 'Postgres')

  const run = createRun(client, ask, {
    codes: MISSING_SCHEMA,
    message: () =>
      `The table "${table}" of ${kind}s is missing, or of an older version: call migrate() of the store once, or run the SQL of ${schema}().`,
  })
  const migrate = (): Promise<void> =>
    runMigration(run, toKeyedMigration(kind, table), `The table "${table}" of ${kind}s`)
  const migrateOnce = keepUnlessFailed(migrate, 'migration of the table')
  const query = async (text: string, ...values: string[]): Promise<Row[]> => {
    if (createTable) await migrateOnce()
    return run(text, values)
  }
  const clock = createMeasuredClock(async () =>
    Number((await query(`SELECT ${NOW_MS}::text AS now`))[0]!.now),
  )
  const isKept = `(expires_at IS NULL OR expires_at > ${NOW_MS})`

  return {
    migrate,
    clockOffsetMs: clock.offsetMs,
    async read(key) {
      if (!isEntryKey(key)) return undefined
      const select = `SELECT value, version, expires_at::text FROM ${table} WHERE key = $1::text AND ${isKept}`
      const [row] = await query(select, key)
      if (row === undefined) return undefined
      const { value, version, expires_at } = row
      return {
        value: fromText(String(value)),
        version: String(version),
        ...(expires_at !== null && { expiresAt: Number(expires_at) }),
      }
    },
    async commit(given, made) {
      const { version, writes, receipt, digest } = await toCommit(given, made)
      const commit = `SELECT ${table}_commit($1::text, $2::text, $3::text, $4::text::json) AS result`
      const [row] = await query(commit, version, receipt, digest, JSON.stringify(writes.map(toItem)))
      return Number(row!.result) === 1
    },
    async list(options) {
      const range = toRange(options)
      if (range === undefined) return { keys: [] }
      const { from, to, after, limit } = range
      const select = `SELECT key FROM ${table}
WHERE key >= $1::text AND key < $2::text AND key > $3::text AND ${isKept} ORDER BY key LIMIT $4::text::bigint`
      const keys = (await query(select, from, to, after, String(limit))).map(({ key }) => String(key))
      return { keys, ...(keys.length === limit && { next: keys.at(-1) }) }
    },
  }
}

function toItem({ key, value, expiresAt, ifVersion, isCheck }: KeyedWrite): object {
  return {
    key,
    do: isCheck === true ? 'check' : value === undefined ? 'delete' : 'set',
    value: value === undefined ? undefined : toText(value),
    end: expiresAt,
    is: ifVersion,
  }
}

/** Postgres has no character NUL. */
function toText(value: string): string {
  return value.replaceAll('\u0001', '\u0001.').replaceAll('\0', '\u00010')
}

function fromText(text: string): string {
  const [first = '', ...others] = text.split('\u0001')
  return first + others.map((part) => (part.startsWith('0') ? '\0' : '\u0001') + part.slice(1)).join('')
}
