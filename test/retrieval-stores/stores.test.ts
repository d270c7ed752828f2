import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { createClient } from '@libsql/client'
import pg from 'pg'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { createMemoryVectorStore, libSqlVector, pgVector } from '../../src/retrieval.ts'
import { testPort } from '../_port.ts'
import { storeSuite } from './_suite.ts'

async function openPglite() {
  return PGlite.create({ extensions: { vector } })
}

storeSuite('createMemoryVectorStore', async () => ({
  store: createMemoryVectorStore(),
  close: async () => {},
}))

storeSuite('pgVector on PGlite', async () => {
  const client = await openPglite()
  return { store: pgVector({ client }), close: () => client.close() }
})

storeSuite(
  'pgVector on PGlite, by a function, in a schema and without an index',
  async () => {
    const client = await openPglite()
    await client.query('CREATE SCHEMA other')
    const store = pgVector({
      client: async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, parameters)).rows,
      schema: 'other',
      index: 'none',
    })
    return { store, close: () => client.close() }
  },
  { filterRuns: 20 },
)

/** PGlite behind Postgres' own protocol, for the drivers that connect. */
async function listen() {
  const database = await openPglite()
  const port = await testPort()
  const server = new PGLiteSocketServer({ db: database, port, host: '127.0.0.1', maxConnections: 20 })
  await server.start()
  const close = async () => {
    await server.stop()
    await database.close()
  }
  return { url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres?sslmode=disable`, close }
}

storeSuite(
  'pgVector by the package pg',
  async () => {
    const { url, close } = await listen()
    const client = new pg.Pool({ connectionString: url })
    return { store: pgVector({ client }), close: () => client.end().then(close) }
  },
  { filterRuns: 40 },
)

storeSuite(
  'pgVector by the package postgres',
  async () => {
    const { url, close } = await listen()
    const client = postgres(url, { onnotice: () => {} })
    return { store: pgVector({ client }), close: () => client.end().then(close) }
  },
  { filterRuns: 40 },
)

it('pgVector with a connection string connects by itself', async () => {
  const { url, close } = await listen()
  const store = pgVector({ connectionString: url })
  await store.createIndex({ indexName: 'i', dimension: 2 })
  await store.upsert({ indexName: 'i', vectors: [[1, 2]], ids: ['a'], metadata: [{ text: `it's` }] })
  expect(await store.query({ indexName: 'i', queryVector: [1, 2] })).toEqual([
    { id: 'a', score: expect.closeTo(1, 6), metadata: { text: `it's` } },
  ])
  await close()
})

storeSuite('libSqlVector on a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-libsql-'))
  const client = createClient({ url: `file:${join(folder, 'docs.db')}` })
  const close = async () => {
    client.close()
    rmSync(folder, { recursive: true })
  }
  return { store: libSqlVector({ client }), close }
})

/** The same numbers in every run. */
function createRandom(): () => number {
  let seed = 1
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32 - 0.5
  }
}

it('pgVector: ef and probes are set for their statement alone', async () => {
  const client = await openPglite()
  const store = pgVector({ client })
  const indexName = 'many'
  const random = createRandom()
  await store.createIndex({ indexName, dimension: 8 })
  const vectors = Array.from({ length: 1500 }, () => Array.from({ length: 8 }, random))
  await store.upsert({
    indexName,
    vectors,
    ids: vectors.map((_, row) => `v${row}`),
    metadata: vectors.map((_, row) => ({ row })),
  })
  await client.query('ANALYZE')
  await client.query('SET enable_seqscan = off')
  const plan = (
    await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT vector_id FROM "many" WHERE (SELECT set_config('hnsw.ef_search', '1', true)) IS NOT NULL
      ORDER BY embedding <=> '[1,0,0,0,0,0,0,0]' LIMIT 10`,
    )
  ).rows
    .map((row) => row['QUERY PLAN'])
    .join('\n')
  expect(plan).toMatch(/One-Time Filter[\s\S]*many_vector_idx/)

  const queries = Array.from({ length: 30 }, () => Array.from({ length: 8 }, random))
  const exact = createMemoryVectorStore()
  await exact.createIndex({ indexName, dimension: 8 })
  await exact.upsert({ indexName, vectors, ids: vectors.map((_, row) => `v${row}`) })
  const recall = async (options: object) => {
    let hits = 0
    for (const queryVector of queries) {
      const found = new Set((await store.query({ indexName, queryVector, ...options })).map(({ id }) => id))
      for (const { id } of await exact.query({ indexName, queryVector })) hits += found.has(id) ? 1 : 0
    }
    return hits / (queries.length * 10)
  }
  expect(await recall({ ef: 400 })).toBeGreaterThan(0.97)
  expect(await recall({ ef: 1, exact: true })).toBe(1)
  const { rows } = await client.query<{ hnsw: string }>(`SELECT current_setting('hnsw.ef_search') AS hnsw`)
  expect(rows[0]!.hnsw).toBe('40')
  expect(await store.query({ indexName, queryVector: queries[0]!, topK: 1200 })).toHaveLength(1200)
  const filtered = await store.query({
    indexName,
    queryVector: queries[0]!,
    topK: 10,
    filter: { row: { $gte: 1450 } },
  })
  expect(filtered).toHaveLength(10)
  await client.close()
})

it('pgVector asks Neon’s function by its query, not by its unsafe', async () => {
  const asked: unknown[] = []
  const rows = [{ id: 'a', score: '1', metadata: '{}' }]
  const neon = Object.assign(async () => [], {
    query: async (...args: unknown[]) => {
      asked.push(...args)
      return rows
    },
    unsafe: () => {
      throw new Error('unsafe')
    },
  })
  const [found] = await pgVector({ client: neon }).query({
    indexName: 'i',
    queryVector: [1],
    filter: { a: `x'; --` },
  })
  expect(found).toEqual({ id: 'a', score: 1, metadata: {} })
  expect(asked[0]).not.toContain(`x'`)
  expect(asked[1]).toContain(JSON.stringify(`x'; --`))
})

it.each([
  ['pgVector', () => pgVector({})],
  ['libSqlVector', () => libSqlVector({} as never)],
])('%s without a client is refused', (_, create) => {
  expect(create).toThrow(TypeError)
})
