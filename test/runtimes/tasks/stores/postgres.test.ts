/** The suite of every store, over a real Postgres, with each client library; and what its table is left with. */
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresTaskSchema, postgresTaskStore } from '../../../../adapters/postgres.ts'
import { type BusServer, startPostgresServer } from '../../buses/_servers.ts'
import { createPool, POSTGRES_CLIENTS } from './_postgres.ts'
import { startProxy } from './_proxy.ts'
import { newTask } from './_tasks.ts'
import { taskStoreSuite } from './suite.ts'

for (const [library, open] of Object.entries(POSTGRES_CLIENTS)) {
  taskStoreSuite(`Postgres, by ${library}`, async () => {
    const server = await startPostgresServer()
    const url = new URL(server.url)
    const { port, cut, silent, stop } = await startProxy(Number(url.port))
    url.port = String(port)
    return {
      async connect({ prefix, ...options }) {
        const { client, close } = open(url.href)
        const store = postgresTaskStore(client, { table: prefix, onError: () => {}, ...options })
        await store.migrate()
        return { store, close }
      },
      outages: { cut, silent },
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
  it('without its table, the store says what to do', async () => {
    const store = postgresTaskStore(pool, { table: 'forgotten' })
    const refusal =
      'The task table "forgotten" is missing, or of an older version: call migrate() of the store once'
    await expect(store.read('a')).rejects.toThrow(refusal)
    await expect(store.create(newTask(), 1)).rejects.toThrow(refusal)
    await expect(store.due(1, 1)).rejects.toThrow(refusal)
  })

  it('20 processes make the table at once, and again, and the rows stay', async () => {
    const stores = Array.from({ length: 20 }, () => postgresTaskStore(pool, { table: 'at_once' }))
    await Promise.all(stores.map(({ migrate }) => migrate()))
    const task = newTask()
    await stores[0]!.create(task, 1)
    await Promise.all(stores.map(({ migrate }) => migrate()))
    expect(await stores[1]!.read(task.id)).toEqual(task)
  })

  it('with createTable the first operations of many processes make it; while Postgres is away they reject, and nothing ends', async () => {
    const other = await startPostgresServer()
    await other.kill()
    const pools = Array.from({ length: 5 }, () => createPool(other.url).on('error', () => {}))
    const stores = pools.map((one) =>
      postgresTaskStore(one, { table: 'at_first', createTable: true, onError: () => {} }),
    )
    try {
      const task = newTask({ dueAt: 1 })
      for (const store of stores) await expect(store.create(task, 1)).rejects.toThrow()
      await other.start()
      const due = stores.slice(1).map((store) => store.due(1, 9))
      await Promise.all([stores[0]!.create(task, 1), ...due])
      expect(await stores[4]!.due(1, 9)).toEqual([task.id])
      expect(await postgresTaskStore(pools[0]!, { table: 'at_first' }).read(task.id)).toEqual(task)
    } finally {
      await Promise.all(pools.map((one) => one.end()))
      await other.stop()
    }
  })

  it('the SQL makes the same table, in a schema of its own', async () => {
    await pool.query(`CREATE SCHEMA hidden; ${postgresTaskSchema('hidden.tasks')}`)
    const store = postgresTaskStore(pool, { table: 'hidden.tasks' })
    expect(await store.create(newTask({ dueAt: 1 }), 1)).toBe(true)
    expect(await store.create(newTask(), 1)).toBe(false)
    expect(await store.due(1, 9)).toHaveLength(1)
    await pool.query(postgresTaskSchema({ server: 'shop' }))
    expect(await postgresTaskStore(pool, { table: 'mayfly.shop_tasks' }).create(newTask(), 1)).toBe(true)
  })

  it('what has expired is deleted, by whoever asks what is due', async () => {
    const store = postgresTaskStore(pool, { table: 'purged' })
    await store.migrate()
    const expiresAt = Date.now() - 1
    await Promise.all(Array.from({ length: 1500 }, () => store.create(newTask({ expiresAt, dueAt: 1 }), 10)))
    const task = newTask({ dueAt: 1, expiresAt: Date.now() + 60_000 })
    await store.create(task, 10)
    const rows = async () => (await pool.query('SELECT id FROM purged')).rows
    expect(await rows()).toHaveLength(1501)
    expect(await store.due(Date.now(), 10)).toEqual([task.id])
    expect(await rows()).toEqual([{ id: task.id }])
    await store.create(newTask({ expiresAt }), 10)
    expect(await Promise.all([store.purge(), store.purge()]).then(([a, b]) => a! + b!)).toBe(1)
  })

  it('a table of the version before: its waiting tasks go on, also by its own processes', async () => {
    await pool.query(`CREATE TABLE before (
  id text PRIMARY KEY, owner text NOT NULL, version bigint NOT NULL, is_open boolean NOT NULL, due_at bigint, expires_at bigint,
  state text NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, open_at_most bigint NOT NULL
);
CREATE INDEX before_due ON before (due_at) WHERE is_open AND due_at IS NOT NULL;
CREATE FUNCTION before_create(text, text, bigint, boolean, bigint, bigint, text, bigint, bigint) RETURNS integer LANGUAGE sql
  AS $$ INSERT INTO before VALUES ($1, $2, $3, $4, $5, $6, $7, DEFAULT, 1); SELECT 1 $$;`)
    const create = (id: string) =>
      pool.query(`SELECT before_create($1, 'ann', 1, true, 1, NULL, '{}', 9, 9)`, [id])
    await create('waiting')
    const store = postgresTaskStore(pool, { table: 'before' })
    await expect(store.due(9, 9, { server: 'shop' })).rejects.toThrow('call migrate() of the store')
    await store.migrate()
    await create('from an old process')
    expect(await store.due(9, 9, { server: 'shop' })).toEqual(['waiting', 'from an old process'])
    expect(await store.replace({ ...(await store.read('waiting'))!, version: 2, dueAt: null })).toBe(true)
    expect(await store.due(9, 9, { server: 'shop' })).toEqual(['from an old process'])
  })

  describe('while a backup or a report reads the table for long', () => {
    /** Has read `table`, and stays open, as `pg_dump` does. */
    const openReader = async (table: string) => {
      const reader = await pool.connect()
      await reader.query('BEGIN')
      await reader.query(`SELECT count(*) FROM ${table}`)
      return async () => {
        await reader.query('COMMIT')
        reader.release()
      }
    }

    it('many cold starts with createTable begin at once, and those that run go on', async () => {
      const running = postgresTaskStore(pool, { table: 'long_read', createTable: true })
      const task = newTask({ dueAt: 1 })
      await running.create(task, 1)
      const end = await openReader('long_read')
      const pools = Array.from({ length: 8 }, () => createPool(server.url))
      const cold = pools.map((one) => postgresTaskStore(one, { table: 'long_read', createTable: true }))
      try {
        const both = [...cold, running].flatMap((store) => [store.read(task.id), store.due(9, 1)])
        expect(await Promise.all(both)).toEqual([...cold, running].flatMap(() => [task, [task.id]]))
        expect(await cold[0]!.replace({ ...task, version: 2, dueAt: null })).toBe(true)
      } finally {
        await end()
        await Promise.all(pools.map((one) => one.end()))
      }
    })

    it('a cold start of a newer version says why it cannot change the table, ends its wait, and goes on later', async () => {
      const old = 'long_read_of_old'
      await postgresTaskStore(pool, { table: old }).migrate()
      await pool.query(`ALTER TABLE ${old} DROP COLUMN server`)
      const end = await openReader(old)
      const store = postgresTaskStore(pool, { table: old, createTable: true })
      const { id } = newTask()
      const answers = await Promise.allSettled([store.read(id), store.read(id)])
      expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(String((answers[0] as PromiseRejectedResult).reason)).toMatch(
        /another transaction uses the table/,
      )
      // Nothing of it waits in the database, and others read.
      expect((await pool.query('SELECT FROM pg_locks WHERE NOT granted')).rows).toEqual([])
      expect((await pool.query(`SELECT id FROM ${old}`)).rows).toEqual([])
      await end()
      expect(await store.read(id)).toBeUndefined()
    })
  })

  it('migrate() of a complete table takes no lock that anyone waits for', async () => {
    const client = await pool.connect()
    try {
      await postgresTaskStore(pool, { table: 'mayfly.complete' }).migrate()
      await client.query('BEGIN')
      await postgresTaskStore(client, { table: 'mayfly.complete' }).migrate()
      const { rows } = await client.query(
        "SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype <> 'virtualxid' AND mode <> 'AccessShareLock'",
      )
      expect(rows).toEqual([])
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  })

  it.each([
    ['the column', 'ALTER TABLE part DROP COLUMN server'],
    ['an index', 'DROP INDEX part_next'],
    ['another index', 'DROP INDEX part_open'],
    ['the last index', 'DROP INDEX part_end'],
    [
      'the function',
      'DROP FUNCTION part_create(text, text, bigint, boolean, bigint, bigint, text, text, bigint, bigint)',
    ],
    [
      'the text of the function, which another version wrote',
      `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('part_create'::regproc), 'RETURN -1', 'RETURN -7'); END $$`,
    ],
    ['the table', 'DROP TABLE part'],
  ])('migrate() brings back %s alone', async (_what, damage) => {
    const facts = async () =>
      (
        await pool.query(`SELECT attname::text AS one FROM pg_attribute WHERE attrelid = 'part'::regclass AND attnum > 0 AND NOT attisdropped
          UNION SELECT indexdef FROM pg_indexes WHERE tablename = 'part'
          UNION SELECT prosrc FROM pg_proc WHERE proname = 'part_create' ORDER BY one`)
      ).rows
    const store = postgresTaskStore(pool, { table: 'part' })
    await store.migrate()
    const whole = await facts()
    await pool.query(damage)
    await store.migrate()
    expect(await facts()).toEqual(whole)
    expect(whole.length).toBe(15)
    expect(await store.create(newTask({ dueAt: 1 }), 1000)).toBe(true)
  })

  it('what is due is found by its index, also among many that wait', async () => {
    const store = postgresTaskStore(pool, { table: 'indexed' })
    await store.migrate()
    await pool.query(
      `INSERT INTO indexed (id, owner, version, is_open, due_at, state, open_at_most) SELECT 'id-' || n, 'owner', 1, n % 2 = 0, n, '{}', n FROM generate_series(1, 50000) AS n`,
    )
    await pool.query('ANALYZE indexed')
    const { rows } = await pool.query(
      "EXPLAIN SELECT id FROM indexed WHERE server = 'a' AND is_open AND due_at <= 9000 AND (expires_at IS NULL OR expires_at > 9000) ORDER BY due_at LIMIT 10",
    )
    expect(JSON.stringify(rows)).toContain('Index Scan using indexed_next')
    expect(await store.due(9000, 2)).toEqual(['id-2', 'id-4'])
  })

  it('a page of a list looks at 1000 rows at most: thousands of other servers are passed over in several', async () => {
    const store = postgresTaskStore(pool, { table: 'listed' })
    await store.migrate()
    await pool.query(
      `INSERT INTO listed (id, owner, version, is_open, state, open_at_most, server) SELECT 'id-' || lpad(n::text, 5, '0'), 'owner', 1, true, '{}', n, CASE WHEN n % 2000 = 0 THEN 'shop' ELSE 'bank' END FROM generate_series(1, 5000) AS n`,
    )
    const pages: string[][] = []
    for (let after: string | undefined; ; ) {
      const page = await store.list!({ server: 'shop', limit: 10, ...(after !== undefined && { after }) })
      pages.push(page.tasks.map(({ id }) => id))
      after = page.next
      if (after === undefined) break
    }
    expect(pages.flat()).toEqual(['id-02000', 'id-04000'])
    expect(pages).toHaveLength(6)
  })

  it.each(['', 'Tasks', 'a b', 'a"b', "a'; --", 'a.b.c', '1a', 'x'.repeat(51), '.a'])(
    'the table %j → TypeError',
    (table) => {
      expect(() => postgresTaskStore(pool, { table })).toThrow(TypeError)
      expect(() => postgresTaskSchema(table)).toThrow(TypeError)
    },
  )
})
