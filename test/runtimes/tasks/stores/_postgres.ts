/** A client of Postgres by each library, for the suites of stores. */
import { Pool } from 'pg'
import postgres from 'postgres'
import type { PostgresClient } from '../../../../adapters/postgres.ts'

/** The server stops while the last connections are closed, which each of them would say. */
export function createPool(connectionString: string): Pool {
  return new Pool({ connectionString }).on('connect', (client) => client.on('error', () => {}))
}

export const POSTGRES_CLIENTS: {
  readonly [library: string]: (url: string) => { client: PostgresClient; close(): unknown }
} = {
  postgres(url) {
    const client = postgres(url, { fetch_types: false })
    return { client, close: () => client.end({ timeout: 1 }) }
  },
  pg(url) {
    const client = createPool(url)
    return { client, close: () => client.end() }
  },
  /** As Neon's over HTTP: one statement at a time, each on any connection, and rows are all that comes back. */
  'a driver of single statements'(url) {
    const pool = createPool(url).on('error', () => {})
    const query = async (text: string, parameters: (string | null)[] = []): Promise<unknown> => {
      // With parameters, even if there are none: Postgres then takes a single statement alone.
      const { rows } = await pool.query({ text, values: parameters, queryMode: 'extended' } as {
        text: string
      })
      return rows
    }
    return {
      client: Object.assign(() => {}, { query, unsafe: (text: string) => text }),
      close: () => pool.end(),
    }
  },
}
