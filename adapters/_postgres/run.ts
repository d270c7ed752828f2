/** How each store in Postgres runs a statement, with any of the clients. */
import { memberOf } from '../../src/definition/error-text.ts'
import type { Ask } from '../_bus/ask.ts'
import { LOCK_NOT_AVAILABLE } from './migration.ts'
import type { Row } from './task-row.ts'

/**
 * `postgres(url, { fetch_types: false })` of the library `postgres`, a `Pool` of `pg`, `neon(url)` of `@neondatabase/serverless`, PGlite: anything with a function
 * that takes SQL and parameters.
 */
export type PostgresClient =
  | { query(text: string, parameters?: (string | null)[]): PromiseLike<unknown> }
  | { unsafe(text: string, parameters?: (string | null)[]): PromiseLike<unknown> }

export type Run = (text: string, values?: (string | null)[]) => Promise<Row[]>

/** Error codes for a missing table, schema or column. */
export const MISSING_TABLE: readonly string[] = ['42P01', '3F000', '42703']
/** The same, for stores that have a function too. */
export const MISSING_SCHEMA: readonly string[] = [...MISSING_TABLE, '42883']

/** @param missing The codes, and what an error with one of them says. Parameters are text, which libraries do not convert. */
export function createRun(
  client: PostgresClient,
  ask: Ask,
  missing: { readonly codes: readonly string[]; readonly message: () => string },
): Run {
  return async (text, values = []) => {
    try {
      const result = await ask(() =>
        'query' in client ? client.query(text, values) : client.unsafe(text, values),
      )
      return Array.isArray(result) ? (result as Row[]) : (result as { rows: Row[] }).rows
    } catch (error) {
      if (!missing.codes.includes(String(memberOf(error, 'code')))) throw error
      throw new Error(missing.message(), { cause: error })
    }
  }
}

/**
 * @param what Names the table at the start of an error.
 * @throws an error that says so if another transaction uses the table.
 */
export async function runMigration(run: Run, sql: string, what: string): Promise<void> {
  try {
    await run(sql)
  } catch (error) {
    if (memberOf(error, 'code') !== LOCK_NOT_AVAILABLE) throw error
    throw new Error(
      `${what} lacks something of this version, which cannot be added while another transaction uses the table, such as a backup: it is tried again with the next operation.`,
      { cause: error },
    )
  }
}
