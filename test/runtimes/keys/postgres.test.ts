/** With both libraries, over a real Postgres. */
import { Pool } from 'pg'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { postgresKeySchema, postgresKeyStore } from '../../../adapters/postgres.ts'
import { startPostgresServer } from '../buses/_servers.ts'
import { keyStoreSuite } from './_suite.ts'

keyStoreSuite('Postgres', async () => {
  const server = await startPostgresServer()
  const pool = new Pool({ connectionString: server.url, max: 5, idleTimeoutMillis: 0 }).on('error', () => {})
  const sql = postgres(server.url, { fetch_types: false, onnotice() {} })
  const options = { onError() {} }
  const [here, there] = [postgresKeyStore(pool, options), postgresKeyStore(sql, options)]
  await expect(here.read('0'.repeat(12))).rejects.toThrow('call migrate()')
  await Promise.all([here, there, here].map((store) => store.migrate()))
  return {
    here,
    there,
    cut: () => server.kill(),
    async stop() {
      await Promise.allSettled([pool.end(), sql.end({ timeout: 1 })])
      await server.stop()
    },
  }
})

it.each(['Keys', 'a b', 'x'.repeat(51), 'a;b', ''])('the table %j → a TypeError', (table) => {
  const client = { query: async () => [] }
  expect(() => postgresKeyStore(client, { table })).toThrow('"table" of a Postgres key store')
  expect(() => postgresKeySchema(table)).toThrow(TypeError)
})
