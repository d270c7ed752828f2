/**
 * A real Chroma: the one at `CHROMA_URL`, or that of the package `chromadb`, whose binary needs glibc 2.39. Without either, these tests are
 * skipped.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  chromaVector,
  createMemoryVectorStore,
  createVectorQueryTool,
  type Filter,
} from '../../src/retrieval.ts'
import { eventually } from '../_eventually.ts'
import { testPort } from '../_port.ts'
import { comparison, filtersOf } from '../unit/retrieval/_filters.ts'

const CLI = join(import.meta.dirname, 'node_modules/chromadb/dist/cli.mjs')
const given = process.env.CHROMA_URL
const canRun = given !== undefined || spawnSync(process.execPath, [CLI, '--version']).status === 0

const ROWS: Record<string, unknown>[] = [
  { text: 'one', n: 1, b: true },
  { text: 'two', n: 2, quote: `it's "x" \\ %_`, b: false },
  { text: 'three', n: 4 },
  { text: 'four', n: -1, 'odd key': 1 },
]
const VECTORS = [
  [1, 0, 0],
  [0.9, 0.4, 0],
  [0, 1, 0],
  [-1, 0, 0.1],
]
const scalar = fc.constantFrom<string | number | boolean>(
  'one',
  `it's "x" \\ %_`,
  '',
  1,
  2,
  -1,
  0,
  true,
  false,
)
const field = fc.constantFrom('text', 'n', 'b', 'quote', 'odd key', 'none', 'a.b', `x' OR 1=1 --`)
const leaf = fc.oneof(
  comparison(field, ['$eq', '$ne'], scalar),
  comparison(field, ['$gt', '$gte', '$lt', '$lte'], fc.integer({ min: -2, max: 5 })),
  comparison(field, ['$in', '$nin'], fc.array(scalar, { minLength: 1 })),
)
const filter = filtersOf(leaf)

describe.skipIf(!canRun)('chromaVector on a real Chroma', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-chroma-'))
  let server: ChildProcess | undefined
  let url: string
  let indexes = 0
  beforeAll(async () => {
    const port = await testPort()
    url = given ?? `http://127.0.0.1:${port}`
    if (given === undefined)
      server = spawn(process.execPath, [CLI, 'run', '--path', folder, '--port', String(port)], {
        stdio: 'ignore',
      })
    await eventually(async () => expect((await fetch(`${url}/api/v2/version`)).ok).toBe(true))
  })
  afterAll(() => {
    server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  async function filled(metric: 'cosine' | 'euclidean' | 'dotproduct' = 'cosine') {
    const indexName = `mayfly-${Date.now()}-${++indexes}`
    const [store, memory] = [chromaVector({ url }), createMemoryVectorStore()]
    for (const one of [store, memory]) {
      await one.createIndex({ indexName, dimension: 3, metric })
      await one.upsert({ indexName, vectors: VECTORS, metadata: ROWS, ids: ROWS.map((_, at) => `r${at}`) })
    }
    return { indexName, store, memory }
  }

  it.each(['cosine', 'euclidean', 'dotproduct'] as const)('by %s finds what memory finds', async (metric) => {
    const { indexName, store, memory } = await filled(metric)
    const query = { indexName, queryVector: [2, 0.5, 0], includeVector: true }
    const expected = await memory.query(query)
    const found = await store.query(query)
    expect(found.map(({ id, metadata }) => [id, metadata])).toEqual(
      expected.map(({ id, metadata }) => [id, metadata]),
    )
    for (const [at, { score, vector }] of found.entries()) {
      expect(score).toBeCloseTo(expected[at]!.score, 5)
      expect(vector).toEqual(expected[at]!.vector!.map((value) => expect.closeTo(value, 5)))
    }
    expect(await store.describeIndex({ indexName })).toEqual(await memory.describeIndex({ indexName }))
  })

  it('any filter of whole numbers, texts and booleans finds the same rows as in memory', async () => {
    const { indexName, store, memory } = await filled()
    await fc.assert(
      fc.asyncProperty(filter, async (asked) => {
        const ids = async (one: typeof memory | typeof store) =>
          (await one.query({ indexName, queryVector: [1, 1, 1], filter: asked as Filter }))
            .map(({ id }) => id)
            .sort()
        expect(await ids(store)).toEqual(await ids(memory))
      }),
      { numRuns: 200 },
    )
  })

  it('replaces, deletes, lists, and refuses another dimension and an index that is none', async () => {
    const { indexName, store } = await filled()
    await store.upsert({ indexName, vectors: [[0, 0, 1]], ids: ['r0'], metadata: [{ text: 'new' }] })
    await store.deleteVectors({ indexName, ids: ['r3', 'gone'] })
    expect((await store.listIds({ indexName, prefix: 'r' })).sort()).toEqual(['r0', 'r1', 'r2'])
    for (const attempt of [
      () => store.createIndex({ indexName, dimension: 4 }),
      () => store.query({ indexName, queryVector: [1, 2] }),
      () => store.upsert({ indexName, vectors: [[1, 2]] }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'WRONG_DIMENSION' })
    await expect(store.query({ indexName: 'none', queryVector: [1, 2, 3] })).rejects.toMatchObject({
      code: 'NO_INDEX',
    })
  })

  it('serves a tool with where and whereDocument', async () => {
    const { indexName, store } = await filled()
    const search = createVectorQueryTool({
      vectorStore: store,
      indexName,
      model: () => [[1, 0, 0]],
      filter: { n: { $lt: 4 } },
      databaseConfig: { chroma: { where: { b: false }, whereDocument: { $contains: 'tw' } } },
    })
    const { sources } = await search.execute({ queryText: 'x' })
    expect(sources.map(({ document }) => document)).toEqual(['two'])
  })
})
