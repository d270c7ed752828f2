import { describe, expect, it } from 'vitest'
import { type Filter, vectorizeVector } from '../../../src/retrieval.ts'

const indexName = 'docs'
const query = { indexName, queryVector: [0.1, 0.2], topK: 3 }

/** https://developers.cloudflare.com/vectorize/reference/client-api, and the types of its runtime. */
function vectorize() {
  const calls: unknown[][] = []
  const binding = {
    async query(...args: unknown[]) {
      calls.push(['query', ...args])
      return {
        count: 1,
        matches: [{ id: 'a', score: 0.9, values: Float32Array.of(0.5, 1), metadata: { text: 'x' } }],
      }
    },
    async upsert(...args: unknown[]) {
      calls.push(['upsert', ...args])
      return { mutationId: 'm' }
    },
    async deleteByIds(...args: unknown[]) {
      calls.push(['deleteByIds', ...args])
      return { mutationId: 'm' }
    },
    async describe() {
      return { dimensions: 2, vectorCount: 3, processedUpToDatetime: 0, processedUpToMutation: 'm1' }
    },
  }
  return { calls, store: vectorizeVector({ docs: binding }) }
}

describe('vectorizeVector, by the types of its binding', () => {
  it('queries with one object of conditions, and at most what it returns', async () => {
    const { store, calls } = vectorize()
    const asked: Filter = {
      lang: 'en',
      $and: [{ year: { $gte: 2024 } }, { year: { $lt: 2026 } }],
      tag: { $in: ['a'] },
    }
    expect(await store.query({ ...query, topK: 50, includeVector: true, filter: asked })).toEqual([
      { id: 'a', score: 0.9, metadata: { text: 'x' }, vector: [0.5, 1] },
    ])
    expect(calls).toEqual([
      [
        'query',
        [0.1, 0.2],
        {
          topK: 20,
          returnValues: true,
          returnMetadata: 'all',
          filter: { lang: { $eq: 'en' }, year: { $gte: 2024, $lt: 2026 }, tag: { $in: ['a'] } },
        },
      ],
    ])
  })

  it('upserts, deletes, describes', async () => {
    const { store, calls } = vectorize()
    await store.upsert({ indexName, vectors: [[1, 2]], ids: ['a'], metadata: [{ text: 'x' }] })
    await store.deleteVectors({ indexName, ids: Array.from({ length: 101 }, (_, at) => `${at}`) })
    expect(calls[0]).toEqual(['upsert', [{ id: 'a', values: [1, 2], metadata: { text: 'x' } }]])
    expect(calls.slice(1).map(([, ids]) => (ids as string[]).length)).toEqual([100, 1])
    expect(await store.describeIndex({ indexName })).toEqual({ dimension: 2, count: 3 })
    expect(await store.indexVersion!({ indexName })).toBe('3.m1')
    await expect(store.createIndex({ indexName, dimension: 3 })).rejects.toMatchObject({
      code: 'WRONG_DIMENSION',
    })
    await expect(store.query({ ...query, indexName: 'toString' })).rejects.toMatchObject({ code: 'NO_INDEX' })
  })

  it.each<[string, Filter]>([
    ['$or', { $or: [{ a: 1 }, { b: 1 }] }],
    ['$not', { $not: { a: 1 } }],
    ['$exists', { a: { $exists: true } }],
    ['two conditions on "tenant", except a range', { $and: [{ tenant: 'a' }, { tenant: 'b' }] }],
    ['two conditions on "n", except a range', { n: { $gt: 1, $gte: 2 } }],
    ['a string of more than 64 bytes', { a: 'x'.repeat(65) }],
    ['more than 2048 bytes', { a: { $in: Array.from({ length: 500 }, (_, at) => `v${at}`) } }],
  ])('%s is an error that names Vectorize', async (what, asked) => {
    const { store, calls } = vectorize()
    await expect(store.query({ ...query, filter: asked })).rejects.toThrow(
      `Vectorize cannot filter by ${what}`,
    )
    expect(calls).toEqual([])
  })
})
