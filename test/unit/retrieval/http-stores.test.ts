/** The stores behind HTTP, against the shapes of their documentation (November 2026). See `_recorded.ts` for what that proves. */
import { afterEach, describe, expect, it } from 'vitest'
import {
  chromaVector,
  type Filter,
  pineconeVector,
  qdrantVector,
  upstashVector,
  type VectorStore,
} from '../../../src/retrieval.ts'
import { type Received, type Recorded, serveRecorded } from './_recorded.ts'

const closing: (() => unknown)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function served(recorded: Recorded | ((url: () => string) => Recorded)) {
  let url = ''
  const server = await serveRecorded(typeof recorded === 'function' ? recorded(() => url) : recorded)
  url = server.url
  closing.push(server.close)
  return server
}

const indexName = 'docs'
const query = { indexName, queryVector: [0.1, 0.2], topK: 3 }
const filter: Filter = {
  $or: [{ lang: 'en' }, { year: { $gte: 2024, $lt: 2026 } }],
  tag: { $in: ['a', 'b'] },
}

/** https://docs.pinecone.io/reference/api/2025-10/data-plane/query and its neighbours. */
async function pinecone(metric = 'cosine') {
  const server = await served((url) => ({
    get 'GET /indexes/docs'() {
      return { name: 'docs', dimension: 2, metric, host: url(), status: { ready: true, state: 'Ready' } }
    },
    'POST /query': {
      matches: [{ id: 'vec3', score: 0.25, values: [0.3, 0.4], metadata: { text: 'three' } }],
      namespace: 'example-namespace',
      usage: { read_units: 6 },
    },
    'POST /vectors/upsert': { upsertedCount: 2 },
    'POST /vectors/delete': {},
    'POST /describe_index_stats': {
      namespaces: { a: { vectorCount: 3 } },
      dimension: 2,
      indexFullness: 0,
      totalVectorCount: 5,
    },
    'GET /vectors/list': ({ path }: Received) =>
      path.includes('paginationToken=next')
        ? { vectors: [{ id: 'doc1#3' }], namespace: '' }
        : { vectors: [{ id: 'doc1#1' }, { id: 'doc1#2' }], pagination: { next: 'next' }, namespace: '' },
  }))
  return { ...server, store: pineconeVector({ apiKey: 'k', url: server.url }) }
}

describe('pineconeVector, by the shapes of its documentation', () => {
  it('queries with namespace, sparse vector and filter', async () => {
    const { store, received } = await pinecone()
    const sparseVector = { indices: [1], values: [0.5] }
    const found = await store.query({ ...query, includeVector: true, filter, namespace: 'n', sparseVector })
    expect(found).toEqual([{ id: 'vec3', score: 0.25, metadata: { text: 'three' }, vector: [0.3, 0.4] }])
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /indexes/docs',
      'POST /query',
    ])
    expect(received[1]).toMatchObject({ headers: { 'api-key': 'k', 'x-pinecone-api-version': '2025-10' } })
    expect(received[1]!.body).toEqual({
      vector: [0.1, 0.2],
      topK: 3,
      includeValues: true,
      includeMetadata: true,
      namespace: 'n',
      sparseVector,
      filter: {
        $and: [
          { $or: [{ lang: { $eq: 'en' } }, { $and: [{ year: { $gte: 2024 } }, { year: { $lt: 2026 } }] }] },
          { tag: { $in: ['a', 'b'] } },
        ],
      },
    })
  })

  it('upserts, deletes, counts, and lists page by page', async () => {
    const { store, last, received } = await pinecone()
    await store.upsert({ indexName, vectors: [[1, 2]], ids: ['a'], metadata: [{ text: 'x' }] })
    expect(last().body).toEqual({ vectors: [{ id: 'a', values: [1, 2], metadata: { text: 'x' } }] })
    await store.deleteVector({ indexName, id: 'a' })
    expect(last().body).toEqual({ ids: ['a'] })
    expect(await store.describeIndex({ indexName })).toEqual({ dimension: 2, metric: 'cosine', count: 5 })
    expect(await store.listIds({ indexName, prefix: 'doc1#' })).toEqual(['doc1#1', 'doc1#2', 'doc1#3'])
    expect(received.at(-2)!.path).toBe('/vectors/list?prefix=doc1%23&limit=100')
  })

  it('turns a distance into a score', async () => {
    const { store } = await pinecone('euclidean')
    expect((await store.query(query))[0]!.score).toBe(0.8)
  })

  it('creates an index that does not exist, and waits until it is ready', async () => {
    let created: unknown
    const server = await served({
      'GET /indexes/new': () =>
        created && { dimension: 2, metric: 'cosine', host: 'h', status: { ready: true } },
      'POST /indexes': ({ body }: Received) => {
        created = body
        return {}
      },
    })
    const serverless = { cloud: 'gcp', region: 'europe-west4' }
    const create = (options: object) =>
      pineconeVector({ apiKey: 'k', url: server.url, ...options }).createIndex({
        indexName: 'new',
        dimension: 2,
      })
    await expect(create({})).rejects.toThrow('needs "serverless"')
    await create({ serverless })
    expect(created).toEqual({
      name: 'new',
      dimension: 2,
      metric: 'cosine',
      spec: { serverless },
    })
  })
})

/** https://upstash.com/docs/vector/api/endpoints. */
async function upstash() {
  const server = await served({
    'POST /query/docs': {
      result: [
        { id: 'id-0', score: 1, metadata: { link: 'upstash.com' }, data: 'text' },
        { id: 'id-1', score: 0.99996454 },
      ],
    },
    'POST /upsert/docs': { result: 'Success' },
    'POST /delete/docs': { result: { deleted: 1 } },
    'GET /info': {
      result: {
        vectorCount: 17,
        pendingVectorCount: 0,
        indexSize: 551_807,
        dimension: 2,
        similarityFunction: 'COSINE',
        namespaces: {
          '': { vectorCount: 10, pendingVectorCount: 0 },
          docs: { vectorCount: 7, pendingVectorCount: 0 },
        },
      },
    },
    'POST /range/docs': ({ body }: Received) => ({
      result:
        body.cursor === '0'
          ? { nextCursor: '2', vectors: [{ id: 'id-0' }, { id: 'id-1' }] }
          : { nextCursor: '', vectors: [{ id: 'id-2' }] },
    }),
  })
  return { ...server, store: upstashVector({ url: `${server.url}/`, token: 't' }) }
}

describe('upstashVector, by the shapes of its documentation', () => {
  it('queries a namespace, with the filter as its text', async () => {
    const { store, last } = await upstash()
    const asked: Filter = {
      $or: [{ 'geography.continent': 'Asia' }, { capital: false }],
      population: { $gte: 1000 },
      it: { $in: ["x'y", 2] },
      a: { $exists: false },
    }
    expect(await store.query({ ...query, filter: asked })).toEqual([
      { id: 'id-0', score: 1, metadata: { link: 'upstash.com' }, document: 'text' },
      { id: 'id-1', score: 0.99996454, metadata: {} },
    ])
    expect(last()).toMatchObject({ path: '/query/docs', headers: { authorization: 'Bearer t' } })
    expect(last().body).toEqual({
      vector: [0.1, 0.2],
      topK: 3,
      includeMetadata: true,
      includeVectors: false,
      includeData: true,
      filter: `((geography.continent = 'Asia' OR capital = false) AND population >= 1000 AND it IN ("x'y", 2) AND HAS NOT FIELD a)`,
    })
  })

  it('upserts, deletes, counts, lists, and checks the dimension', async () => {
    const { store, last } = await upstash()
    await store.upsert({ indexName, vectors: [[1, 2]], ids: ['a'], metadata: [{ text: 'x' }] })
    expect(last().body).toEqual([{ id: 'a', vector: [1, 2], metadata: { text: 'x' } }])
    await store.deleteVectors({ indexName, ids: ['a', 'b'] })
    expect(last().body).toEqual({ ids: ['a', 'b'] })
    expect(await store.describeIndex({ indexName })).toEqual({ dimension: 2, count: 7, metric: 'cosine' })
    expect(await store.listIds({ indexName, prefix: 'id' })).toEqual(['id-0', 'id-1', 'id-2'])
    await store.createIndex({ indexName, dimension: 2 })
    await expect(store.createIndex({ indexName, dimension: 3 })).rejects.toMatchObject({
      code: 'WRONG_DIMENSION',
    })
  })

  it.each<[string, Filter]>([
    ['a text with both quotes', { a: `'"` }],
    ['a backslash', { a: 'x\\' }],
    ['a line break', { a: 'x\n' }],
    ['a name with more in it', { "a' OR 1 = 1": 1 }],
    ['a name that is a word of its language', { or: 1 }],
    ['a name within another', { 'a.and': 1 }],
    ['a number with an exponent', { a: 1e30 }],
    ['$not', { $not: { a: 1 } }],
    ['$gt with a string', { a: { $gt: 'x' } }],
    ['an empty list', { a: { $in: [] } }],
  ])('%s never becomes a part of the filter’s text', async (_, asked) => {
    const { store, received } = await upstash()
    await expect(store.query({ ...query, filter: asked })).rejects.toMatchObject({
      code: 'UNSUPPORTED_FILTER',
      message: expect.stringContaining('Upstash'),
    })
    expect(received).toEqual([])
  })
})

/** https://api.qdrant.tech/api-reference. */
async function qdrant(distance = 'Cosine') {
  const server = await served({
    'GET /collections/docs': {
      result: {
        status: 'green',
        points_count: 4,
        segments_count: 1,
        config: { params: { vectors: { size: 2, distance } } },
      },
      status: 'ok',
      time: 0.001,
    },
    'PUT /collections/new': { result: true, status: 'ok', time: 0.1 },
    'POST /collections/docs/points/query': {
      result: {
        points: [
          {
            id: 'f0e0',
            version: 3,
            score: 0.75,
            payload: { text: 'x', _mayfly_id: 'a' },
            vector: [0.1, 0.2],
          },
        ],
      },
      status: 'ok',
      time: 0.001,
    },
    'PUT /collections/docs/points': {
      result: { operation_id: 1, status: 'completed' },
      status: 'ok',
      time: 0.1,
    },
    'POST /collections/docs/points/delete': {
      result: { operation_id: 2, status: 'completed' },
      status: 'ok',
      time: 0.1,
    },
    'POST /collections/docs/points/scroll': ({ body }: Received) => ({
      result:
        body.offset === undefined
          ? { points: [{ id: 'u1', payload: { _mayfly_id: 'a' } }], next_page_offset: 'u2' }
          : { points: [{ id: 'u2', payload: { _mayfly_id: 'b' } }], next_page_offset: null },
      status: 'ok',
      time: 0.1,
    }),
  })
  return { ...server, store: qdrantVector({ url: server.url, apiKey: 'k' }) }
}

describe('qdrantVector, by the shapes of its documentation', () => {
  it('queries with a filter of its own form', async () => {
    const { store, received } = await qdrant()
    const asked: Filter = {
      lang: 'en',
      year: { $gte: 2024 },
      tag: { $nin: ['a', 1.5] },
      old: { $exists: false },
      $not: { x: true },
    }
    expect(await store.query({ ...query, includeVector: true, filter: asked, ef: 64, exact: true })).toEqual([
      { id: 'a', score: 0.75, metadata: { text: 'x' }, vector: [0.1, 0.2] },
    ])
    expect(received[0]).toMatchObject({ path: '/collections/docs/points/query', headers: { 'api-key': 'k' } })
    expect(received[0]!.body).toEqual({
      query: [0.1, 0.2],
      limit: 3,
      with_payload: true,
      with_vector: true,
      params: { hnsw_ef: 64, exact: true },
      filter: {
        must: [
          { must: [{ key: 'lang', match: { value: 'en' } }] },
          { must: [{ key: 'year', range: { gte: 2024 } }] },
          {
            must_not: [
              { key: 'tag', match: { value: 'a' } },
              { key: 'tag', range: { gte: 1.5, lte: 1.5 } },
            ],
          },
          { must: [{ is_empty: { key: 'old' } }] },
          { must_not: [{ must: [{ key: 'x', match: { value: true } }] }] },
        ],
      },
    })
  })

  it('keeps ids in the payload, since its own are UUIDs', async () => {
    const { store, last } = await qdrant()
    const uuid = '1e3a0b62-0d57-4c5e-9d3e-0a5a5a5a5a5a'
    await store.upsert({
      indexName,
      vectors: [
        [1, 2],
        [3, 4],
      ],
      ids: ['a', uuid],
      metadata: [{ text: 'x' }, {}],
    })
    const { points } = last().body
    expect(points[0].id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(points[0].payload).toEqual({ text: 'x', _mayfly_id: 'a' })
    expect(points[1].id).toBe(uuid)
    await store.deleteVector({ indexName, id: 'a' })
    expect(last()).toMatchObject({
      path: '/collections/docs/points/delete?wait=true',
      body: { points: [points[0].id] },
    })
    expect(await store.listIds({ indexName, prefix: 'b' })).toEqual(['b'])
    expect(await store.describeIndex({ indexName })).toEqual({ dimension: 2, count: 4, metric: 'cosine' })
  })

  it('turns a distance into a score, and creates a collection', async () => {
    const { store, last } = await qdrant('Euclid')
    expect((await store.query(query))[0]!.score).toBeCloseTo(1 / 1.75, 9)
    await store.createIndex({ indexName: 'new', dimension: 2, metric: 'dotproduct' })
    expect(last()).toMatchObject({
      method: 'PUT',
      path: '/collections/new',
      body: { vectors: { size: 2, distance: 'Dot' } },
    })
  })

  it.each<[string, Filter]>([
    ['$gt with a string', { a: { $gt: 'x' } }],
    ['a field with other characters', { 'a[0]': 1 }],
    ['$in with an empty list', { a: { $in: [] } }],
  ])('%s is an error that names Qdrant', async (what, asked) => {
    const { store } = await qdrant()
    await expect(store.query({ ...query, filter: asked })).rejects.toThrow(`Qdrant cannot filter by ${what}`)
  })
})

const COLLECTIONS = '/api/v2/tenants/default_tenant/databases/default_database/collections'

/** https://docs.trychroma.com/reference, and the OpenAPI types of its client 3.5. */
async function chroma(space = 'cosine') {
  const collection = {
    id: 'c-1',
    name: 'docs',
    dimension: 2,
    configuration_json: { hnsw: { space } },
    log_position: 0,
    version: 0,
  }
  const server = await served({
    [`GET ${COLLECTIONS}/docs`]: collection,
    [`POST ${COLLECTIONS}`]: collection,
    [`POST ${COLLECTIONS}/c-1/query`]: {
      ids: [['a', 'b']],
      distances: [[0.25, 1]],
      metadatas: [[{ text: 'x' }, null]],
      documents: [['x', null]],
      embeddings: [
        [
          [0.1, 0.2],
          [0.3, 0.4],
        ],
      ],
      include: [],
    },
    [`POST ${COLLECTIONS}/c-1/upsert`]: {},
    [`POST ${COLLECTIONS}/c-1/delete`]: { deleted: 1 },
    [`POST ${COLLECTIONS}/c-1/get`]: { ids: ['a', 'b'], include: [] },
    [`GET ${COLLECTIONS}/c-1/count`]: 2,
  })
  return { ...server, store: chromaVector({ url: server.url, apiKey: 'k' }) }
}

describe('chromaVector, by the shapes of its documentation', () => {
  it('queries with where, whereDocument and filter', async () => {
    const { store, last } = await chroma()
    const whereDocument = { $contains: 'word' }
    const found = await store.query({
      ...query,
      includeVector: true,
      filter: { lang: 'en', n: { $gt: 1 }, a: { $in: [1, 'x', 2.5, 3] }, b: { $nin: [true, 1] } },
      where: { own: 1 },
      whereDocument,
    })
    expect(found).toEqual([
      { id: 'a', score: 0.75, metadata: { text: 'x' }, document: 'x', vector: [0.1, 0.2] },
      { id: 'b', score: 0, metadata: {}, vector: [0.3, 0.4] },
    ])
    expect(last()).toMatchObject({ path: `${COLLECTIONS}/c-1/query`, headers: { 'x-chroma-token': 'k' } })
    expect(last().body).toEqual({
      query_embeddings: [[0.1, 0.2]],
      n_results: 3,
      include: ['metadatas', 'documents', 'distances', 'embeddings'],
      where: {
        $and: [
          { own: 1 },
          {
            $and: [
              { lang: { $eq: 'en' } },
              { n: { $gt: 1 } },
              { $or: [{ a: { $in: [1, 3] } }, { a: { $in: ['x'] } }, { a: { $in: [2.5] } }] },
              { $and: [{ b: { $nin: [true] } }, { b: { $nin: [1] } }] },
            ],
          },
        ],
      },
      where_document: whereDocument,
    })
  })

  it('creates, upserts, deletes, counts and lists', async () => {
    const { store, last, received } = await chroma()
    await store.createIndex({ indexName, dimension: 2 })
    expect(last().body).toEqual({
      name: 'docs',
      get_or_create: true,
      configuration: { hnsw: { space: 'cosine' } },
    })
    await store.upsert({ indexName, vectors: [[1, 2]], ids: ['a'], metadata: [{ text: 'x' }] })
    expect(last().body).toEqual({
      ids: ['a'],
      embeddings: [[1, 2]],
      metadatas: [{ text: 'x' }],
      documents: ['x'],
    })
    await store.deleteVector({ indexName, id: 'a' })
    expect(last().body).toEqual({ ids: ['a'] })
    expect(await store.describeIndex({ indexName })).toEqual({ dimension: 2, count: 2, metric: 'cosine' })
    expect(await store.listIds({ indexName, prefix: 'b' })).toEqual(['b'])
    expect(received.filter(({ path }) => path === `${COLLECTIONS}/docs`)).toHaveLength(1)
  })

  it.each([
    ['l2', 1 / (1 + 0.5)],
    ['ip', 0.75],
  ])('turns the distance of %s into a score', async (space, score) => {
    expect((await (await chroma(space)).store.query(query))[0]!.score).toBeCloseTo(score, 9)
  })

  it.each<[string, Filter]>([
    ['$exists', { a: { $exists: true } }],
    ['$not', { $not: { a: 1 } }],
    ['$gt with a string', { a: { $gt: 'x' } }],
    ['$in with an empty list', { a: { $in: [] } }],
  ])('%s is an error that names Chroma', async (what, asked) => {
    await expect((await chroma()).store.query({ ...query, filter: asked })).rejects.toThrow(
      `Chroma cannot filter by ${what}`,
    )
  })
})

describe('every store behind HTTP', () => {
  const STORES: [string, (url: string) => VectorStore][] = [
    ['Pinecone', (url) => pineconeVector({ apiKey: 'k', url })],
    ['Upstash', (url) => upstashVector({ url, token: 't' })],
    ['Qdrant', (url) => qdrantVector({ url })],
    ['Chroma', (url) => chromaVector({ url })],
  ]

  it.each(STORES)(
    '%s: a refusal is an error with its status, whose text does not quote the store',
    async (name, create) => {
      const server = await served({})
      const error = await create(server.url)
        .query(query)
        .catch((reason: unknown) => reason)
      expect(error).toMatchObject({ message: expect.not.stringContaining('secret') })
      // The log shows the stack, and clients the message.
      if (name === 'Upstash') expect((error as Error).stack).toContain('secret')
      expect(error).toMatchObject(
        name === 'Upstash' ? { code: 'STORE_FAILED', status: 404 } : { code: 'NO_INDEX' },
      )
    },
  )

  it.each(STORES)('%s: one that cannot be reached is an error that names it', async (name, create) => {
    const server = await served({})
    server.close()
    await expect(create(server.url).query(query)).rejects.toThrow(`${name} cannot be reached`)
  })

  it.each(STORES)(
    '%s: a URL that is none, and an index name with a path in it, are refused',
    async (_, create) => {
      expect(() => create('x')).toThrow('must be an http or https URL')
      const store = create('http://127.0.0.1:1')
      await expect(store.query({ ...query, indexName: '../x' })).rejects.toThrow('An index name must have')
    },
  )
})
