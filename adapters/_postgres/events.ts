/** Events, their subscriptions and deliveries in a table of Postgres. */
import { openKeyedTable, type PostgresKeyed, type PostgresKeyedOptions } from './keyed.ts'
import { toKeyedSchema } from './keyed-schema.ts'
import type { PostgresClient } from './run.ts'

/** Options of `postgresEvents`. */
export type PostgresEventsOptions = PostgresKeyedOptions

/** The store, and what creates its table. */
export type PostgresEvents = PostgresKeyed

/**
 * Creates a store for Events in Postgres. Expired entries are deleted by later commits. While Postgres is down, it rejects within
 * `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated. Needs the isolation level `READ COMMITTED`, which is
 * the default of Postgres.
 *
 * ```ts
 * events({ types: { incident }, store: postgresEvents(pool, { createTable: true }) })
 * ```
 *
 * @throws TypeError for a table whose name would need quotes, and for a client of `postgres` with `fetch_types`.
 */
export function postgresEvents(client: PostgresClient, options?: PostgresEventsOptions): PostgresEvents {
  return openKeyedTable(
    { name: 'postgresEvents', kind: 'event', schema: 'postgresEventSchema' },
    client,
    options,
  )
}

/**
 * The SQL that creates the table of `postgresEvents`, for your own migrations. Safe to run again.
 *
 * @param table The store's option. Default `mayfly.events`.
 * @throws TypeError for an invalid name.
 */
export function postgresEventSchema(table?: string): string {
  return toKeyedSchema('event', table)
}
