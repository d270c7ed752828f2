/** What every store of this package does, against a real one. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createGraphRAGTool,
  createMemoryVectorStore,
  createVectorQueryTool,
  type Filter,
  type VectorStore,
} from '../../src/retrieval.ts'
import { comparison, filtersOf, negation } from '../unit/retrieval/_filters.ts'

export interface OpenStore {
  readonly store: VectorStore
  close(): Promise<unknown>
}

const ROWS: Record<string, unknown>[] = [
  { text: 'one', n: 1, tags: ['red', 'blue', 3], nested: { deep: { flag: true } }, b: true },
  { text: 'two', n: 2, tags: [], quote: `it's "x" \\ %_`, b: false },
  { text: 'three', n: '2', tags: 'red blue', empty: null },
  { text: 'four', n: 2.5, emoji: '\u{1F600}', bmp: '\uFFFD' },
  { text: 'five', n: -1, 'odd key': 1, $x: 1, tags: [true, ['red']] },
]
const VECTORS = [
  [1, 0, 0],
  [0.9, 0.4, 0],
  [0, 1, 0],
  [-1, 0, 0.1],
  [0, 0, 1],
]

const scalar = fc.constantFrom<string | number | boolean>(
  ...['red', '2', 'one', '', 'red blue', `it's "x" \\ %_`, '\u{1F600}', '\uE000', `'; DROP TABLE x; --`],
  ...[1, 2, 2.5, -1, 3, 0, 1e21],
  true,
  false,
)
const ordered = scalar.filter((value) => typeof value !== 'boolean')
const field = fc.constantFrom(
  'text',
  'n',
  'tags',
  'nested',
  'nested.deep.flag',
  'b',
  'empty',
  'odd key',
  'emoji',
  'quote',
  'bmp',
  'tags.0',
  `x' OR 1=1 --`,
)
const leaf = fc.oneof(
  comparison(field, ['$eq', '$ne', '$contains'], scalar),
  comparison(field, ['$gt', '$gte', '$lt', '$lte'], ordered),
  comparison(field, ['$in', '$nin'], fc.array(scalar)),
  comparison(field, ['$exists'], fc.boolean()),
)
const filter = filtersOf(leaf, negation)

export function storeSuite(name: string, open: () => Promise<OpenStore>, { filterRuns = 300 } = {}): void {
  describe(name, () => {
    let opened: OpenStore
    let indexes = 0
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())

    const filled = async () => {
      const { store } = opened
      const indexName = `docs-${++indexes}`
      await store.createIndex({ indexName, dimension: 3 })
      await store.upsert({ indexName, vectors: VECTORS, metadata: ROWS, ids: ROWS.map((_, at) => `r${at}`) })
      return { store, indexName }
    }

    it('finds the nearest first, with metadata, score and vector', async () => {
      const { store, indexName } = await filled()
      const [first, second, ...rest] = await store.query({
        indexName,
        queryVector: [2, 0, 0],
        topK: 2,
        includeVector: true,
      })
      expect(rest).toEqual([])
      expect(first).toMatchObject({ id: 'r0', metadata: ROWS[0] })
      expect(first!.score).toBeCloseTo(1, 5)
      expect(second!.score).toBeCloseTo(0.9 / Math.hypot(0.9, 0.4), 5)
      second!.vector!.forEach((value, at) => {
        expect(value).toBeCloseTo(VECTORS[1]![at]!, 5)
      })
    })

    it('minScore leaves out what is farther', async () => {
      const { store, indexName } = await filled()
      const found = await store.query({ indexName, queryVector: [1, 0, 0], minScore: 0.5 })
      expect(found.map(({ id }) => id)).toEqual(['r0', 'r1'])
    })

    it('a vector of zeros is like nothing: its score is 0, also as the question', async () => {
      const { store, indexName } = await filled()
      await store.upsert({ indexName, vectors: [[0, 0, 0]], ids: ['zero'], metadata: [{ text: 'zero' }] })
      const search = async (queryVector: readonly number[], minScore?: number) =>
        store.query({ indexName, queryVector, ...(minScore !== undefined && { minScore }) })
      expect((await search([1, 0, 0], 0.5)).map(({ id }) => id)).toEqual(['r0', 'r1'])
      const zero = (await search([1, 0, 0])).find(({ id }) => id === 'zero')
      if (zero !== undefined) expect(zero.score).toBe(0)
      for (const { score } of await search([0, 0, 0])) expect(score).toBe(0)
    })

    it('any filter finds the same rows as in memory', async () => {
      const { store, indexName } = await filled()
      const memory = createMemoryVectorStore()
      await memory.createIndex({ indexName, dimension: 3 })
      await memory.upsert({ indexName, vectors: VECTORS, metadata: ROWS, ids: ROWS.map((_, at) => `r${at}`) })
      await fc.assert(
        fc.asyncProperty(filter, async (given) => {
          const ids = async (one: VectorStore) =>
            (await one.query({ indexName, queryVector: [1, 1, 1], filter: given as Filter }))
              .map(({ id }) => id)
              .sort()
          expect(await ids(store)).toEqual(await ids(memory))
        }),
        { numRuns: filterRuns },
      )
    })

    it('replaces by id, deletes, counts and lists', async () => {
      const { store, indexName } = await filled()
      await store.upsert({
        indexName,
        vectors: [
          [0, 0, 1],
          [0, 0, 2],
        ],
        ids: ['r0', 'r0'],
        metadata: [{ text: 'old' }, { text: 'new' }],
      })
      await store.deleteVector({ indexName, id: 'r4' })
      await store.deleteVectors({ indexName, ids: ['r3', `x' OR 1=1 --`] })
      const [first] = await store.query({ indexName, queryVector: [0, 0, 1], topK: 1 })
      expect(first).toMatchObject({ id: 'r0', metadata: { text: 'new' } })
      expect(await store.describeIndex({ indexName })).toEqual({ dimension: 3, count: 3, metric: 'cosine' })
      expect((await store.listIds({ indexName, prefix: 'r' })).sort()).toEqual(['r0', 'r1', 'r2'])
      expect(await store.listIds({ indexName, prefix: 'r_' })).toEqual([])
    })

    it('its version is another one for other contents', async () => {
      const { store, indexName } = await filled()
      const version = () => store.indexVersion!({ indexName })
      const seen = [await version()]
      expect(await version()).toBe(seen[0])
      for (const change of [
        () => store.upsert({ indexName, vectors: [[1, 1, 1]], ids: ['r0'] }),
        () => store.upsert({ indexName, vectors: [[1, 1, 1]], ids: ['r9'] }),
        () => store.deleteVector({ indexName, id: 'r4' }),
        () => store.upsert({ indexName, vectors: [[1, 1, 1]], ids: ['r4'] }),
        () => store.deleteVectors({ indexName, ids: ['r4', 'r9'] }),
      ]) {
        await change()
        seen.push(await version())
      }
      expect(new Set(seen).size).toBe(seen.length)
    })

    it('creating an index again does nothing, but another dimension is refused', async () => {
      const { store, indexName } = await filled()
      await store.createIndex({ indexName, dimension: 3 })
      expect((await store.describeIndex({ indexName })).count).toBe(5)
      for (const attempt of [
        () => store.createIndex({ indexName, dimension: 4 }),
        () => store.query({ indexName, queryVector: [1, 2] }),
        () => store.upsert({ indexName, vectors: [[1, 2]] }),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'WRONG_DIMENSION' })
    })

    it('an index that does not exist is an error with a code, and a name with SQL in it is refused', async () => {
      const { store } = opened
      await expect(store.query({ indexName: 'none', queryVector: [1, 2, 3] })).rejects.toMatchObject({
        code: 'NO_INDEX',
      })
      for (const indexName of ['a"b', 'a;b', '', 'x'.repeat(64)])
        await expect(store.query({ indexName, queryVector: [1, 2, 3] })).rejects.toThrow(TypeError)
    })

    it('serves both tools', async () => {
      const { store, indexName } = await filled()
      const options = {
        vectorStore: store,
        indexName,
        model: () => [[1, 0, 0]],
        enableFilter: true,
        filter: { n: { $lt: 3 } },
      }
      const search = await createVectorQueryTool(options).execute({
        queryText: 'x',
        topK: 2,
        filter: { b: { $exists: true } },
      })
      expect(search.sources.map(({ document }) => document)).toEqual(['one', 'two'])
      const graph = await createGraphRAGTool(options).execute({ queryText: 'x', topK: 1 })
      expect(graph.relevantContext).toHaveLength(1)
    })
  })
}
