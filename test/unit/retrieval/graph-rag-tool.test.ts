import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createGraphRAGTool,
  createMemoryVectorStore,
  type GraphOptions,
  type QueryParams,
} from '../../../src/retrieval.ts'

const indexName = 'g'

async function filled(vectors: readonly (readonly number[])[]) {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName, dimension: vectors[0]!.length })
  await store.upsert({
    indexName,
    vectors,
    ids: vectors.map((_, at) => `n${String(at).padStart(4, '0')}`),
    metadata: vectors.map((_, at) => ({ text: `t${at}`, even: at % 2 === 0 })),
  })
  return store
}

/** A store that counts its queries. */
function counted<Store extends { query(params: never): unknown }>(store: Store) {
  const queries: QueryParams[] = []
  const query = (params: never) => {
    queries.push(params)
    return store.query(params)
  }
  return { store: { ...store, query }, queries }
}

/** Solves A x = b by elimination with the largest pivot. */
function solve(a: number[][], b: number[]): number[] {
  const n = b.length
  const rows = a.map((row, at) => [...row, b[at]!])
  for (let column = 0; column < n; column++) {
    let pivot = column
    for (let row = column; row < n; row++)
      if (Math.abs(rows[row]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = row
    ;[rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!]
    for (let row = 0; row < n; row++) {
      if (row === column) continue
      const factor = rows[row]![column]! / rows[column]![column]!
      for (let at = column; at <= n; at++) rows[row]![at]! -= factor * rows[column]![at]!
    }
  }
  return rows.map((row, at) => row[n]! / row[at]!)
}

const cosine = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, value, at) => sum + value * other[at]!, 0) / (Math.hypot(...one) * Math.hypot(...other))

/** Personalised PageRank by its definition: (I - (1 - r) P^T) p = r s, where a node without edges goes back to the start. */
function pageRank(
  vectors: number[][],
  query: number[],
  topK: number,
  threshold: number,
  r: number,
): number[] {
  const near = vectors
    .map((vector, at) => ({ at, score: cosine(vector, query) }))
    .sort((a, b) => b.score - a.score || a.at - b.at)
  const start = vectors.map(() => 0)
  for (const { at, score } of near.slice(0, topK)) start[at] = Math.max(score, 1e-6)
  const total = start.reduce((sum, one) => sum + one, 0)
  const s = start.map((one) => one / total)
  const weight = vectors.map((one, i) =>
    vectors.map((other, j) =>
      i !== j && cosine(one, other) > Math.max(threshold, 1e-6) ? cosine(one, other) : 0,
    ),
  )
  const p = weight.map((row) => {
    const sum = row.reduce((all, one) => all + one, 0)
    return sum === 0 ? s : row.map((one) => one / sum)
  })
  return solve(
    vectors.map((_, i) => vectors.map((__, j) => (i === j ? 1 : 0) - (1 - r) * p[j]![i]!)),
    s.map((one) => r * one),
  )
}

const setUp = (vectors: readonly (readonly number[])[], query: number[], graphOptions: GraphOptions = {}) =>
  filled(vectors).then((store) => {
    const { store: vectorStore, queries } = counted(store)
    const tool = createGraphRAGTool({
      vectorStore,
      indexName,
      model: () => [query],
      enableFilter: true,
      graphOptions,
    })
    return { tool, queries, store }
  })

describe('createGraphRAGTool', () => {
  it('its scores are those of personalised PageRank, solved densely, within 1e-6', async () => {
    const vector = fc
      .array(fc.integer({ min: -20, max: 20 }), { minLength: 4, maxLength: 4 })
      .filter((one) => one.some((x) => x !== 0))
    await fc.assert(
      fc.asyncProperty(
        fc.array(vector, { minLength: 1, maxLength: 30 }),
        vector,
        fc.integer({ min: 1, max: 30 }),
        fc.double({ min: -0.5, max: 0.95, noNaN: true }),
        fc.double({ min: 0.15, max: 1, noNaN: true }),
        async (vectors, query, topK, threshold, restartProb) => {
          // Where a similarity is within rounding of a limit, 32 and 64 bits may differ.
          const all = [
            ...vectors.flatMap((one) => vectors.map((other) => cosine(one, other))),
            ...vectors.map((one) => cosine(one, query)),
          ]
          fc.pre(all.every((one) => Math.abs(one - threshold) > 1e-5 && (Math.abs(one) > 1e-5 || one === 0)))
          const near = vectors.map((one) => cosine(one, query)).sort((a, b) => b - a)
          fc.pre(near.every((one, at) => at === 0 || near[at - 1]! - one > 1e-5))
          const { tool } = await setUp(vectors, query, { threshold, restartProb })
          const { sources } = await tool.execute({ queryText: 'x', topK: 1000 })
          const few = await tool.execute({ queryText: 'x', topK })
          for (const [result, k] of [
            [sources, 1000],
            [few.sources, topK],
          ] as const) {
            const expected = pageRank(vectors, query, k, threshold, restartProb)
            for (const { id, score } of result)
              expect(Math.abs(score - expected[Number(id.slice(1))]!)).toBeLessThan(1e-6)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('chunks that have nothing in common are not connected by the rounding of their similarity', async () => {
    const vectors = [
      [-9, 5, -10, -8],
      [-18, 10, 10, 14],
      [0, 0, 0, 1],
    ]
    const { tool } = await setUp(vectors, [0, 0, 0, -1], { threshold: -1e-5, restartProb: 0.15 })
    const { sources } = await tool.execute({ queryText: 'x', topK: 1 })
    const expected = pageRank(vectors, [0, 0, 0, -1], 1, -1e-5, 0.15)
    expect(sources.map(({ id, score }) => [id, Math.round(score * 1e6)])).toEqual([
      ['n0000', Math.round(expected[0]! * 1e6)],
    ])
  })

  it('finds what is connected with the nearest chunk, before what is merely near', async () => {
    const angle = (degrees: number) => [
      Math.cos((degrees * Math.PI) / 180),
      Math.sin((degrees * Math.PI) / 180),
    ]
    // The first four are connected in a row. The last one is nearer to the question than the fourth, but alone.
    const { tool } = await setUp([0, 20, 40, 60, -50].map(angle), angle(0), { threshold: 0.9 })
    const { sources } = await tool.execute({ queryText: 'x', topK: 4 })
    expect(sources.map(({ id }) => id).sort()).toEqual(['n0000', 'n0001', 'n0002', 'n0003'])
  })

  it('the request context overrides the walk', async () => {
    const { tool } = await setUp(
      [
        [1, 0],
        [0.9, 0.3],
      ],
      [1, 0],
    )
    const scores = async (key: string, value: number) =>
      (await tool.execute({ queryText: 'x', topK: 1 }, { requestContext: new Map([[key, value]]) }))
        .sources[0]!.score
    expect(await scores('restartProb', 1)).toBeCloseTo(1, 6)
    expect(await scores('threshold', 0.99)).toBeCloseTo(1, 6)
    expect(await scores('restartProb', 0.5)).toBeCloseTo(2 / 3, 6)
    expect(await scores('randomWalkSteps', 1)).toBeCloseTo(0.85, 6)
  })

  it('the same question has the same answer, whatever order the chunks were added in', async () => {
    const vectors = Array.from({ length: 50 }, (_, at) => [
      Math.sin(at),
      Math.cos(at * 1.7),
      Math.sin(at * 0.3),
    ])
    const { tool, store } = await setUp(vectors, [1, 1, 1])
    const first = await tool.execute({ queryText: 'x' })
    const other = createMemoryVectorStore()
    await other.createIndex({ indexName, dimension: 3 })
    const rows = (
      await store.query({ indexName, queryVector: [-1, 0, 1], topK: 100, includeVector: true })
    ).reverse()
    await other.upsert({
      indexName,
      vectors: vectors.map((_, at) => vectors[Number(rows[at]!.id.slice(1))]!),
      ids: rows.map(({ id }) => id),
      metadata: rows.map(({ metadata }) => metadata!),
    })
    const again = createGraphRAGTool({ vectorStore: other, indexName, model: () => [[1, 1, 1]] })
    expect(await again.execute({ queryText: 'x' })).toEqual(first)
  })

  it('builds a graph once for each version of the index', async () => {
    const { tool, queries, store } = await setUp(
      [
        [1, 0],
        [0.9, 0.1],
        [0, 1],
      ],
      [1, 0],
    )
    for (let run = 0; run < 3; run++) await tool.execute({ queryText: 'x', topK: 2 })
    await tool.execute({ queryText: 'x', filter: { even: true } })
    expect(queries).toHaveLength(1)
    await store.upsert({ indexName, vectors: [[1, 0.01]], ids: ['new'], metadata: [{ text: 'new' }] })
    const { relevantContext } = await tool.execute({ queryText: 'x' })
    expect([queries.length, relevantContext.includes('new')]).toEqual([2, true])
  })

  it('a model’s filter walks only over what it allows', async () => {
    const { tool } = await setUp(
      [
        [1, 0],
        [0.9, 0.1],
        [0.8, 0.2],
        [0, 1],
      ],
      [1, 0],
    )
    const { sources } = await tool.execute({ queryText: 'x', filter: { even: true } })
    expect(sources.map(({ id }) => id)).toEqual(['n0000', 'n0002'])
    expect(sources.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 6)
  })

  it('an index over maxNodes has a graph of the nearest chunks, for each question', async () => {
    const vectors = Array.from({ length: 30 }, (_, at) => [Math.cos(at / 10), Math.sin(at / 10)])
    const { tool, queries } = await setUp(vectors, [1, 0], { maxNodes: 10 })
    const first = await tool.execute({ queryText: 'x', topK: 5 })
    expect(first.sources).toHaveLength(5)
    expect(await tool.execute({ queryText: 'x', topK: 5 })).toEqual(first)
    expect(queries.map(({ topK }) => topK)).toEqual([10, 10])
  })

  it.each([
    ['of an index', {}],
    ['of the nearest chunks of a larger one', { maxNodes: 10 }],
  ])('a graph %s is built once, also where questions come at once', async (_, graphOptions) => {
    const { store } = await setUp(
      Array.from({ length: 30 }, (__, at) => [Math.cos(at / 10), Math.sin(at / 10)]),
      [1, 0],
    )
    let reads = 0
    const get = (target: readonly number[], key: string | symbol) => {
      if (key === '0') reads += 1
      return Reflect.get(target, key)
    }
    const query = async (params: QueryParams & { readonly [option: string]: unknown }) =>
      (await store.query(params)).map((one) => ({ ...one, vector: new Proxy(one.vector!, { get }) }))
    const create = () =>
      createGraphRAGTool({
        vectorStore: { ...store, query },
        indexName,
        model: () => [[1, 0]],
        graphOptions,
      })
    /** How often vectors are read: once to check them, and again to build. */
    const readsOf = async (tool: ReturnType<typeof create>, count: number) => {
      reads = 0
      await Promise.all(Array.from({ length: count }, () => tool.execute({ queryText: 'x' })))
      return reads
    }
    const one = await readsOf(create(), 1)
    const tool = create()
    expect(await readsOf(tool, 5)).toBeLessThan(5 * one)
    expect(await readsOf(tool, 1)).toBeLessThan(one)
  })

  it('a store that finds only a part of what the server’s filter allows: no question gets the graph of another', async () => {
    const memory = await filled(Array.from({ length: 40 }, (_, at) => [Math.cos(at / 20), Math.sin(at / 20)]))
    const vectorStore = {
      query: async (params: QueryParams) => (await memory.query({ ...params, topK: 1000 })).slice(0, 3),
      describeIndex: async () => ({ dimension: 2, count: 5000 }),
    }
    const tool = createGraphRAGTool({
      vectorStore,
      indexName,
      model: ([text]) => [text === 'first' ? [1, 0] : [0, 1]],
      filter: { even: true },
    })
    const ids = async (queryText: string) =>
      (await tool.execute({ queryText })).sources.map(({ id }) => id).sort()
    expect(await ids('first')).toEqual(['n0000', 'n0002', 'n0004'])
    expect(await ids('second')).toEqual(['n0030', 'n0032', 'n0034'])
  })

  it('what a graph is kept by counts as a part of maxCacheBytes', async () => {
    const { tool, queries } = await setUp(
      [
        [1, 0],
        [0, 1],
      ],
      [1, 0],
      { maxCacheBytes: 5000 },
    )
    const filter = { $not: { text: 'x'.repeat(8000) } }
    const requestContext = new Map([['filter', filter]])
    for (let run = 0; run < 2; run++) await tool.execute({ queryText: 'x' }, { requestContext })
    expect(queries).toHaveLength(2)
  })

  it('keeps graphs within maxCacheBytes', async () => {
    const { tool, queries } = await setUp(
      [
        [1, 0],
        [0, 1],
      ],
      [1, 0],
      { maxCacheBytes: 100 },
    )
    await tool.execute({ queryText: 'x' })
    await tool.execute({ queryText: 'x' })
    expect(queries).toHaveLength(2)
  })

  it('a store that only counts its vectors: a graph is kept for maxAgeMs', async () => {
    const memory = await filled([
      [1, 0],
      [0, 1],
    ])
    const { store, queries } = counted({ query: memory.query, describeIndex: memory.describeIndex })
    const create = (maxAgeMs: number) =>
      createGraphRAGTool({
        vectorStore: store as never,
        indexName,
        model: () => [[1, 0]],
        graphOptions: { maxAgeMs },
      })
    const [kept, not] = [create(60_000), create(0)]
    for (const tool of [kept, kept, not, not]) await tool.execute({ queryText: 'x' })
    expect(queries).toHaveLength(3)
  })

  it('an empty index has an empty answer', async () => {
    const store = createMemoryVectorStore()
    await store.createIndex({ indexName, dimension: 2 })
    const tool = createGraphRAGTool({ vectorStore: store, indexName, model: () => [[1, 0]] })
    expect(await tool.execute({ queryText: 'x' })).toEqual({ relevantContext: [], sources: [] })
  })

  it.each([
    [{ dimension: 1536 }, 'The index has 1536 dimensions'],
    [{ restartProb: 0 }, '"restartProb" of a graph'],
    [{ randomWalkSteps: 0 }, '"graphOptions.randomWalkSteps"'],
    [{ threshold: 2 }, '"graphOptions.threshold"'],
    [{ maxAgeMs: Number.NaN }, '"graphOptions.maxAgeMs"'],
    [{ maxCacheBytes: -1 }, '"graphOptions.maxCacheBytes"'],
  ])('%j is refused', async (graphOptions, message) => {
    const attempt = async () => {
      const { tool } = await setUp([[1, 0]], [1, 0], graphOptions)
      return tool.execute({ queryText: 'x' })
    }
    await expect(attempt()).rejects.toThrow(message)
  })
})
