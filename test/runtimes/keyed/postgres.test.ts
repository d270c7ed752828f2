/** The suite of every transactional store, over a real Postgres, with each client library; and what its table is left with. */
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type PostgresClient,
  postgresEventSchema,
  postgresEvents,
  postgresGrantSchema,
  postgresGrants,
} from '../../../adapters/postgres.ts'
import { eventually } from '../../_eventually.ts'
import { type BusServer, startPostgresServer } from '../buses/_servers.ts'
import { createPool, POSTGRES_CLIENTS } from '../tasks/stores/_postgres.ts'
import { startProxy } from '../tasks/stores/_proxy.ts'
import { keyedStoreSuite, newVersion } from './_suite.ts'

/** Answers of `loseAnswers` that are lost. */
const lost = {
  isLost: false,
  begin: () => void Object.assign(lost, { isLost: true }),
  end: () => void Object.assign(lost, { isLost: false }),
}

function loseAnswers(client: PostgresClient): void {
  if (!('unsafe' in client)) return
  const unsafe = client.unsafe.bind(client)
  client.unsafe = async (text, parameters) => {
    const answer = await unsafe(text, parameters)
    return lost.isLost ? new Promise(() => {}) : answer
  }
}

const STORES = [
  ...Object.keys(POSTGRES_CLIENTS).map((library) => ['grants', postgresGrants, library] as const),
  ['events', postgresEvents, 'pg'] as const,
]

for (const [entries, create, library] of STORES) {
  keyedStoreSuite(`${entries} in Postgres, by ${library}`, async () => {
    const server = await startPostgresServer()
    const url = new URL(server.url)
    const { port, cut, silent, mute, stop } = await startProxy(Number(url.port))
    url.port = String(port)
    return {
      async connect({ prefix, ...options }) {
        const { client, close } = POSTGRES_CLIENTS[library]!(url.href)
        if (library === 'postgres') loseAnswers(client)
        const store = create(client, { table: prefix, createTable: true, onError() {}, ...options })
        return { store, close }
      },
      outages: { cut, silent },
      // This library asks about each statement first, and would not send it without an answer.
      mute: library === 'postgres' ? lost : mute,
      async stop() {
        stop()
        await server.stop()
      },
    }
  })
}

describe('Postgres', () => {
  let server: BusServer
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgresServer()
    pool = createPool(server.url)
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  it.each([
    ['grants', postgresGrants, 'postgresGrantSchema'],
    ['events', postgresEvents, 'postgresEventSchema'],
  ] as const)('without its table, the store of %s says what to do', async (entries, create, schema) => {
    const store = create(pool, { table: 'forgotten' })
    const refusal = `The table "forgotten" of ${entries} is missing, or of an older version: call migrate() of the store once, or run the SQL of ${schema}().`
    await expect(store.read('a')).rejects.toThrow(refusal)
    await expect(store.commit('v', [])).rejects.toThrow(refusal)
    await expect(store.list({ prefix: '', limit: 1 })).rejects.toThrow(refusal)
  })

  it.each([
    ['grants', postgresGrants],
    ['events', postgresEvents],
  ] as const)(
    '20 processes make the table of %s at once, not in the schema public, and again',
    async (entries, create) => {
      const stores = Array.from({ length: 20 }, () => create(pool))
      await Promise.all(stores.map(({ migrate }) => migrate()))
      expect(await stores[0]!.commit('v', [{ key: 'a', value: 'b' }])).toBe(true)
      await Promise.all(stores.map(({ migrate }) => migrate()))
      expect(await stores[1]!.read('a')).toEqual({ value: 'b', version: 'v' })
      expect((await pool.query(`SELECT key FROM mayfly.${entries} WHERE key >= $1`, [' '])).rows).toEqual([
        { key: 'a' },
      ])
    },
  )

  it.each([
    ['grants', postgresGrants, postgresGrantSchema],
    ['events', postgresEvents, postgresEventSchema],
  ] as const)('the SQL makes the same table of %s, and may run again', async (entries, create, toSchema) => {
    const table = `hidden.${entries}`
    await pool.query(`CREATE SCHEMA IF NOT EXISTS hidden; ${toSchema(table)}`)
    await pool.query(toSchema(table))
    expect(toSchema()).toContain(`mayfly.${entries}_commit(`)
    const store = create(pool, { table })
    expect(await store.commit('v', [{ key: 'a', value: 'b', ifVersion: null }])).toBe(true)
    expect(await store.commit('w', [{ key: 'a', value: 'b', ifVersion: null }])).toBe(false)
    expect((await store.list({ prefix: '', limit: 9 })).keys).toEqual(['a'])
  })

  it('migrate() of a complete table takes no lock that anyone waits for, and brings back what is missing', async () => {
    const store = postgresGrants(pool, { table: 'part' })
    await store.migrate()
    for (const damage of [
      'DROP INDEX part_end',
      'DROP FUNCTION part_commit',
      'DROP TABLE part',
      `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('part_commit'::regproc), 'RETURN 0', 'RETURN 1'); END $$`,
    ]) {
      await pool.query(damage)
      await store.migrate()
      const [version, write] = [newVersion(), { key: damage, value: '', ifVersion: null }]
      expect(await store.commit(version, [write])).toBe(true)
      expect(await store.commit(newVersion(), [write])).toBe(false)
    }
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await postgresGrants(client, { table: 'part' }).migrate()
      const { rows } = await client.query(
        "SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype <> 'virtualxid' AND mode <> 'AccessShareLock'",
      )
      expect(rows).toEqual([])
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  })

  it('expired rows are deleted by later commits, receipts too', async () => {
    const store = postgresGrants(pool, { table: 'expired', createTable: true })
    const expiresAt = Date.now() + 300
    for (let commit = 0; commit < 10; commit++)
      await store.commit(
        newVersion(),
        Array.from({ length: 25 }, (_, index) => ({ key: `${commit}:${index}`, value: '', expiresAt })),
      )
    const count = async () => Number((await pool.query('SELECT count(*) FROM expired')).rows[0]!.count)
    expect(await count()).toBe(260)
    await pool.query(`UPDATE expired SET expires_at = ${expiresAt} WHERE key < ' '`)
    let commits = 0
    await eventually(async () => {
      await store.commit(newVersion(), [{ key: 'x', value: '' }])
      commits++
      expect(await count()).toBe(commits + 1)
    })
  })

  it('a database whose default is another isolation level is refused before anything is written', async () => {
    const strict = new Pool({
      connectionString: server.url,
      options: '-c default_transaction_isolation=serializable',
    })
    try {
      const store = postgresGrants(strict, { table: 'strict', createTable: true })
      await expect(store.commit('v', [{ key: 'a', value: '' }])).rejects.toThrow('READ COMMITTED')
      expect(await store.read('a')).toBeUndefined()
    } finally {
      await strict.end()
    }
  })

  it('reads, lists and deletes by index, also among many', async () => {
    const store = postgresGrants(pool, { table: 'indexed', createTable: true })
    await store.read('a')
    await pool.query(
      `INSERT INTO indexed SELECT 'grant:' || n, '', 'v', CASE WHEN n % 2 = 0 THEN n END FROM generate_series(1, 50000) AS n`,
    )
    await pool.query('ANALYZE indexed')
    const plan = async (sql: string) => JSON.stringify((await pool.query(`EXPLAIN ${sql}`)).rows)
    expect(
      await plan(
        `SELECT key FROM indexed WHERE key >= 'grant:7' AND key < 'grant:7~' AND key > '' ORDER BY key LIMIT 9`,
      ),
    ).toContain('indexed_pkey')
    expect(
      await plan('SELECT key FROM indexed WHERE expires_at <= 100 LIMIT 100 FOR UPDATE SKIP LOCKED'),
    ).toContain('indexed_end')
    expect((await store.list({ prefix: 'grant:777', limit: 2 })).keys).toEqual(['grant:777', 'grant:7771'])
  })

  it.each(['', 'Grants', 'a b', 'a"b', "a'; --", 'a.b.c', '1a', 'x'.repeat(51)])(
    'the table %j → TypeError',
    (table) => {
      for (const create of [postgresGrants, postgresEvents])
        expect(() => create(pool, { table })).toThrow(TypeError)
      for (const toSchema of [postgresGrantSchema, postgresEventSchema])
        expect(() => toSchema(table)).toThrow(TypeError)
    },
  )
})
