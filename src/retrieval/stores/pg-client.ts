/** Adapts any Postgres driver to one function. */
import { keepUnlessFailed } from '../../definition/keep-unless-failed.ts'

export type Rows = readonly { readonly [column: string]: unknown }[]

/** Runs one statement and resolves with its rows. */
export type RunSql = (sql: string, parameters: string[]) => PromiseLike<Rows>

/** A pool or client of `pg`, `neon(url)`, or a PGlite. */
export interface QueryingClient {
  query(sql: string, parameters: unknown[]): PromiseLike<unknown>
}

/** `postgres(url, { fetch_types: false })`. */
export interface UnsafeClient {
  unsafe(sql: string, parameters: never[]): PromiseLike<unknown>
}

export interface PgConnection {
  readonly client?: QueryingClient | UnsafeClient | RunSql
  readonly connectionString?: string
}

/** @throws TypeError without a client or a connection string. */
export function toRun({ client, connectionString }: PgConnection): RunSql {
  if (client === undefined) {
    if (!connectionString) throw new TypeError('pgVector needs "client" or "connectionString".')
    const toConnected = keepUnlessFailed(() => connect(connectionString), 'package postgres')
    return async (sql, parameters) => (await toConnected())(sql, parameters)
  }
  // `query` first, since Neon's also has an `unsafe`, which does not run statements.
  if ('query' in client) return async (sql, parameters) => toList(await client.query(sql, parameters))
  if ('unsafe' in client)
    return async (sql, parameters) => toList(await client.unsafe(sql, parameters as never[]))
  if (typeof client === 'function') return client
  throw new TypeError(
    '"client" of pgVector must be a driver with query() or unsafe(), or a function (sql, parameters) => rows.',
  )
}

function toList(result: unknown): Rows {
  return Array.isArray(result) ? result : (result as { rows: Rows }).rows
}

// In a `try`, so that bundlers treat a package that is not installed as optional.
async function connect(connectionString: string): Promise<RunSql> {
  let postgres: typeof import('postgres')
  try {
    postgres = (await import('postgres')).default
  } catch (cause) {
    throw new Error('pgVector with a connection string needs the package postgres: npm install postgres', {
      cause,
    })
  }
  try {
    const client = postgres(connectionString, { onnotice: () => {}, fetch_types: false })
    return async (sql, parameters) => toList(await client.unsafe(sql, parameters))
  } catch {
    // Its error quotes the URL, with the password.
    throw new TypeError(
      '"connectionString" of pgVector is not a URL: write postgres://user:password@host:5432/database.',
    )
  }
}
