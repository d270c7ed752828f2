import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryVectorStore, type Metric, VectorStoreError } from '../../../src/retrieval.ts'

const indexName = 'i'

async function filled(vectors: number[][], metric?: Metric) {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName, dimension: vectors[0]!.length, metric })
  await store.upsert({
    indexName,
    vectors,
    ids: vectors.map((_, at) => `${at}`),
    metadata: vectors.map((_, at) => ({ text: `t${at}`, even: at % 2 === 0 })),
  })
  return store
}

const vectors = fc.integer({ min: 1, max: 9 }).chain((dimension) => {
  const vector = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: dimension, maxLength: dimension })
  return fc.tuple(vector, fc.array(vector, { minLength: 1, maxLength: 40 }))
})

const product = (one: number[], other: number[]) =>
  one.reduce((sum, value, at) => sum + value * other[at]!, 0)
const EXPECTED: Record<Metric, (one: number[], other: number[]) => number> = {
  cosine: (one, other) =>
    product(one, other) / (Math.sqrt(product(one, one)) || 1) / (Math.sqrt(product(other, other)) || 1),
  dotproduct: product,
  euclidean: (one, other) => 1 / (1 + Math.hypot(...one.map((value, at) => value - other[at]!))),
}

describe('createMemoryVectorStore', () => {
  it.each(Object.keys(EXPECTED) as Metric[])(
    'by %s finds the same as comparing and sorting all',
    async (metric) => {
      await fc.assert(
        fc.asyncProperty(
          vectors,
          fc.integer({ min: 1, max: 50 }),
          fc.boolean(),
          async ([query, rows], topK, onlyEven) => {
            const store = await filled(rows, metric)
            const results = await store.query({
              indexName,
              queryVector: query,
              topK,
              ...(onlyEven && { filter: { even: true } }),
            })
            const expected = rows
              .map((row) => EXPECTED[metric](query, row))
              .filter((_, at) => !onlyEven || at % 2 === 0)
              .sort((one, other) => other - one)
              .slice(0, topK)
            expect(results).toHaveLength(expected.length)
            results.forEach(({ score, id }, at) => {
              expect(score).toBeCloseTo(expected[at]!, 4)
              expect(score).toBeCloseTo(EXPECTED[metric](query, rows[Number(id)]!), 4)
            })
          },
        ),
        { numRuns: 60 },
      )
    },
  )

  it('any order of adding, replacing and deleting leaves what a Map would have', async () => {
    const change = fc.record({
      id: fc.integer({ min: 0, max: 9 }),
      vector: fc.option(fc.tuple(fc.integer(), fc.integer())),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change), async (changes) => {
        const store = createMemoryVectorStore()
        await store.createIndex({ indexName, dimension: 2, metric: 'dotproduct' })
        const model = new Map<string, number[]>()
        for (const { id, vector } of changes) {
          if (vector === null) await store.deleteVector({ indexName, id: `${id}` })
          else
            await store.upsert({ indexName, vectors: [vector], ids: [`${id}`], metadata: [{ id, vector }] })
          if (vector === null) model.delete(`${id}`)
          else model.set(`${id}`, vector)
        }
        const all = await store.query({ indexName, queryVector: [1, 1], topK: 1000, includeVector: true })
        const seen = all.map(({ id, metadata }) => [id, metadata!.vector] as const)
        expect(new Map(seen)).toEqual(model)
        expect(await store.describeIndex({ indexName })).toEqual({
          dimension: 2,
          metric: 'dotproduct',
          count: model.size,
        })
        expect((await store.listIds({ indexName, prefix: '' })).sort()).toEqual([...model.keys()].sort())
      }),
      { numRuns: 60 },
    )
  })

  it('a snapshot through JSON is the same store', async () => {
    const store = await filled([
      [3, 4],
      [1, 0],
      [-2, 5],
    ])
    const copy = createMemoryVectorStore(JSON.parse(JSON.stringify(store.snapshot())))
    const query = { indexName, queryVector: [1, 2], includeVector: true }

    expect(await copy.query(query)).toEqual(await store.query(query))
    expect(copy.snapshot()).toEqual(store.snapshot())
  })

  it('returns vectors as they were given, and minScore leaves out what is farther', async () => {
    const store = await filled([
      [3, 4],
      [-3, -4],
    ])
    const results = await store.query({ indexName, queryVector: [3, 4], includeVector: true, minScore: 0.5 })

    expect(results).toHaveLength(1)
    expect(results[0]).toMatchObject({ id: '0', metadata: { text: 't0' } })
    expect(results[0]!.vector!.map((value) => Math.round(value * 1000) / 1000)).toEqual([3, 4])
    expect(results[0]!.score).toBeCloseTo(1, 6)
  })

  it.each(['cosine', 'euclidean', 'dotproduct'] as const)(
    '%s: a vector whose product with others is no number is refused, and so is a query',
    async (metric) => {
      const store = createMemoryVectorStore()
      await store.createIndex({ indexName, dimension: 2, metric })
      await store.upsert({ indexName, vectors: [[1e38, -1e38]], ids: ['large'] })
      for (const wrong of [
        [1e39, 1],
        [3e38, 3e38],
        [1e200, -1e200],
        [Number.NaN, 1],
        [Number.POSITIVE_INFINITY, 1],
        ['1', 1] as unknown as number[],
      ]) {
        const refused = { code: 'WRONG_DIMENSION' }
        await expect(store.upsert({ indexName, vectors: [wrong], ids: ['x'] })).rejects.toMatchObject(refused)
        await expect(store.query({ indexName, queryVector: wrong })).rejects.toMatchObject(refused)
      }
      for (const queryVector of [
        [1e38, 1e38],
        [1, 0],
      ]) {
        const found = await store.query({ indexName, queryVector, includeVector: true })
        expect(found.map(({ id }) => id)).toEqual(['large'])
        expect([found[0]!.score, ...found[0]!.vector!].every(Number.isFinite)).toBe(true)
      }
    },
  )

  it('what a caller changes in a result or in its metadata changes nothing in the store', async () => {
    const metadata = { text: 'a', tags: ['x'] }
    const store = createMemoryVectorStore()
    await store.createIndex({ indexName, dimension: 1 })
    await store.upsert({ indexName, vectors: [[1]], metadata: [metadata] })
    metadata.tags.push('y')
    const [first] = await store.query({ indexName, queryVector: [1] })
    ;(first!.metadata!.tags as string[]).push('z')

    const [second] = await store.query({ indexName, queryVector: [1] })
    expect(second!.metadata).toEqual({ text: 'a', tags: ['x'] })
  })

  it('its version changes with every change, and with nothing else', async () => {
    const store = await filled([[1, 2]])
    const version = () => store.indexVersion!({ indexName })
    const first = await version()
    await store.query({ indexName, queryVector: [1, 1] })
    expect(await version()).toBe(first)
    await store.upsert({ indexName, vectors: [[2, 1]], ids: ['0'] })
    const second = await version()
    expect(second).not.toBe(first)
    await store.upsert({ indexName, vectors: [[2, 1]], ids: ['1'] })
    await store.deleteVector({ indexName, id: '1' })
    expect([first, second]).not.toContain(await version())
  })

  it.each([
    ['an index that does not exist', { indexName: 'other', queryVector: [1, 2] }, 'NO_INDEX'],
    ['another dimension', { indexName, queryVector: [1] }, 'WRONG_DIMENSION'],
    ['a vector that is no number', { indexName, queryVector: [1, Number.NaN] }, 'WRONG_DIMENSION'],
  ])('%s is refused by code', async (_, query, code) => {
    const store = await filled([[1, 2]])
    const error = await store.query(query).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(VectorStoreError)
    expect((error as VectorStoreError).code).toBe(code)
  })
})
