/** Grants of sign-in in a table of Postgres. */
import { openKeyedTable, type PostgresKeyed, type PostgresKeyedOptions } from './keyed.ts'
import { toKeyedSchema } from './keyed-schema.ts'
import type { PostgresClient } from './run.ts'

/** Options of `postgresGrants`. */
export type PostgresGrantsOptions = PostgresKeyedOptions

/** The store, and what creates its table. */
export type PostgresGrants = PostgresKeyed

/**
 * Creates a store of grants in Postgres, for `signIn` of `mayfly-mcp/sign-in`. Expired entries are deleted by later commits. While Postgres
 * is down, it rejects within `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated. Needs the isolation level
 * `READ COMMITTED`, which is the default of Postgres.
 *
 * ```ts
 * signIn({ store: postgresGrants(pool, { createTable: true }), upstream, scopes })
 * ```
 *
 * @throws TypeError for a table whose name would need quotes, and for a client of `postgres` with `fetch_types`.
 */
export function postgresGrants(client: PostgresClient, options?: PostgresGrantsOptions): PostgresGrants {
  return openKeyedTable(
    { name: 'postgresGrants', kind: 'grant', schema: 'postgresGrantSchema' },
    client,
    options,
  )
}

/**
 * The SQL that creates the table of `postgresGrants`, for your own migrations. Safe to run again.
 *
 * @param table The store's option. Default `mayfly.grants`.
 * @throws TypeError for an invalid name.
 */
export function postgresGrantSchema(table?: string): string {
  return toKeyedSchema('grant', table)
}
