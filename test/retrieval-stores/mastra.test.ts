/** The stores of Mastra, as they are. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { createClient } from '@libsql/client'
import { LibSQLVector } from '@mastra/libsql'
import { PgVector } from '@mastra/pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { synchronise } from '../../deploy/ingest/synchronise.ts'
import {
  createGraphRAGTool,
  createVectorQueryTool,
  libSqlVector,
  pgVector,
  type SearchableStore,
  type VectorStore,
} from '../../src/retrieval.ts'
import { testPort } from '../_port.ts'

const folder = mkdtempSync(join(tmpdir(), 'mayfly-mastra-'))
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
  rmSync(folder, { recursive: true, force: true })
})

/** What is used of a store of Mastra to fill it. */
interface MastraStore {
  createIndex(params: { indexName: string; dimension: number }): Promise<void>
  upsert(params: {
    indexName: string
    vectors: number[][]
    metadata: object[]
    ids: string[]
  }): Promise<string[]>
}

interface Pair {
  readonly theirs: SearchableStore & MastraStore
  readonly ours: VectorStore
}

const chunkOf = (text: string) => ({ text, source: 'docs/a.md', heading: '' })

async function libSql(): Promise<Pair> {
  const url = `file:${join(folder, 'docs.db')}`
  const client = createClient({ url })
  closing.push(() => client.close())
  return { theirs: new LibSQLVector({ id: 'x', url }), ours: libSqlVector({ client }) }
}

async function postgres(): Promise<Pair> {
  const database = await PGlite.create({ extensions: { vector } })
  const port = await testPort()
  const server = new PGLiteSocketServer({ db: database, port, host: '127.0.0.1', maxConnections: 20 })
  await server.start()
  const theirs = new PgVector({
    id: 'x',
    connectionString: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres?sslmode=disable`,
  })
  closing.push(
    () => database.close(),
    () => server.stop(),
    () => theirs.disconnect(),
  )
  return { theirs, ours: pgVector({ client: database }) }
}

describe.each([
  ['LibSQLVector', libSql],
  ['PgVector', postgres],
])('%s of Mastra', (_, open) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await open()
    const indexName = 'docs'
    await pair.theirs.createIndex({ indexName, dimension: 2 })
    await pair.theirs.upsert({
      indexName,
      vectors: [
        [1, 0],
        [0.9, 0.2],
        [0, 1],
        [0.8, 0.3],
      ],
      ids: ['a', 'b', 'c', 'd'],
      metadata: ['a', 'b', 'a', 'b'].map((tenant, at) => ({ text: `t${at}`, tenant, at })),
    })
  })

  it('serves both tools as it is, with filters', async () => {
    const options = {
      vectorStore: pair.theirs,
      indexName: 'docs',
      model: () => [[1, 0]],
      enableFilter: true,
      filter: { tenant: 'b' },
    }
    const search = createVectorQueryTool({ ...options, includeVectors: true })
    const { sources } = await search.execute({ queryText: 'x', topK: 3, filter: { at: { $lt: 3 } } })
    expect(sources).toEqual([
      {
        id: 'b',
        metadata: { text: 't1', tenant: 'b', at: 1 },
        score: expect.closeTo(0.976, 2),
        document: 't1',
        vector: [expect.closeTo(0.9, 5), expect.closeTo(0.2, 5)],
      },
    ])
    const { relevantContext } = await createGraphRAGTool(options).execute({ queryText: 'x' })
    expect(relevantContext.sort()).toEqual(['t1', 't3'])
    const widened = await search.execute({
      queryText: 'x',
      filter: { $or: [{ tenant: 'a' }, { at: { $gte: 0 } }] },
    })
    expect(widened.sources.map(({ id }) => id)).toEqual(['b', 'd'])
  })

  it('ingesting into our store of the same database fills, changes and empties an index that it created', async () => {
    const { ours, theirs } = pair
    const indexName = 'ingested'
    await theirs.createIndex({ indexName, dimension: 2 })
    const chunk = (id: string, text: string) => ({ id: `docs:${id}`, input: text, metadata: chunkOf(text) })
    const fill = (chunks: readonly ReturnType<typeof chunk>[]) =>
      synchronise(ours, chunks, {
        indexName,
        prefix: 'docs:',
        embed: async (texts) => texts.map((text) => [text.length, 1]),
        removes: true,
        mayRemoveMost: false,
        isDryRun: false,
      })
    const search = createVectorQueryTool({ vectorStore: theirs, indexName, model: () => [[1, 0]] })
    const found = async () => (await search.execute({ queryText: 'x' })).sources.map(({ id }) => id).sort()
    expect(await fill([chunk('1', 'one'), chunk('2', 'second')])).toMatchObject({ added: 2, removed: 0 })
    expect(await found()).toEqual(['docs:1', 'docs:2'])
    expect(await fill([chunk('2', 'second'), chunk('3', 'the third one')])).toMatchObject({
      added: 1,
      removed: 1,
    })
    expect(await found()).toEqual(['docs:2', 'docs:3'])
    const [first] = (await search.execute({ queryText: 'x', topK: 1 })).sources
    expect(first!.metadata).toEqual(chunkOf('the third one'))
  })

  it('our store reads its tables', async () => {
    const { ours } = pair
    const query = { indexName: 'docs', queryVector: [1, 0], filter: { tenant: 'a' } }
    expect((await ours.query(query)).map(({ id }) => id)).toEqual(['a', 'c'])
    expect(await ours.describeIndex({ indexName: 'docs' })).toMatchObject({ dimension: 2, count: 4 })
  })
})
