import { describe, expect, it } from 'vitest'
import { createTool, MCPServer } from '../../../src/index.ts'
import {
  createGraphRAGTool,
  createMemoryVectorStore,
  createVectorQueryTool,
  provideRetrieval,
  type QueryParams,
  type RetrievalOptions,
  type RetrievalOutput,
} from '../../../src/retrieval.ts'
import { toCall } from './_call.ts'
import { DIMENSION, embed, embedText } from './_embed.ts'

const TEXTS = [
  'apples are red',
  'the sky is blue',
  'grass is green and apples grow on trees',
  'bread is baked',
]

async function fruit() {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName: 'docs', dimension: DIMENSION })
  await store.upsert({
    indexName: 'docs',
    vectors: TEXTS.map(embedText),
    ids: TEXTS.map((_, at) => `c${at}`),
    metadata: TEXTS.map((text, at) => ({ text, page: at, team: at % 2 === 0 ? 'a' : 'b' })),
  })
  return store
}

const tool = async (options: Partial<RetrievalOptions> = {}) =>
  createVectorQueryTool({ vectorStore: await fruit(), indexName: 'docs', model: embed, ...options })

const ids = ({ sources }: RetrievalOutput) => sources.map(({ id }) => id)
const values = (entries: Record<string, unknown>) => ({ requestContext: new Map(Object.entries(entries)) })

/** Calls a tool over HTTP, as a modern client does. */
async function call(server: MCPServer, name: string, args: object, meta: object = {}) {
  const response = await server.fetch(toCall(name, args, meta))
  const { result } = (await response.json()) as {
    result: { isError?: boolean; content: { text: string }[]; structuredContent: RetrievalOutput }
  }
  return result
}

describe('createVectorQueryTool', () => {
  it('returns the nearest chunks, with their metadata, score and text', async () => {
    const search = await tool()
    const output = await search.execute({ queryText: 'which apples', topK: 1 })

    expect(output).toEqual({
      relevantContext: [{ text: TEXTS[0], page: 0, team: 'a' }],
      sources: [
        {
          id: 'c0',
          metadata: { text: TEXTS[0], page: 0, team: 'a' },
          score: expect.closeTo(0.408, 2),
          document: TEXTS[0],
        },
      ],
    })
  })

  it.each([
    ['10', 4],
    ['2', 2],
    ['', 4],
    [undefined, 4],
    [3, 3],
  ])('takes topK %j', async (topK, count) => {
    expect(ids(await (await tool()).execute({ queryText: 'apples', topK }))).toHaveLength(count)
  })

  it.each([0, -1, 1.5, 'many', 1001])('refuses topK %j with the limits', async (topK) => {
    await expect((await tool()).execute({ queryText: 'apples', topK })).rejects.toThrow(
      'topK: expected a whole number from 1 to 1000',
    )
  })

  it('refuses an empty question, and a wrong filter in words that help', async () => {
    const search = await tool({ enableFilter: true })
    await expect(search.execute({ queryText: ' ' })).rejects.toThrow('queryText: expected a string')
    await expect(search.execute({ queryText: 'x', filter: { a: { $like: 1 } } as never })).rejects.toThrow(
      'filter: Unknown filter operator "$like"',
    )
  })

  it('a model filters only with enableFilter', async () => {
    const filter = '{"team": "b"}'
    const with_ = await tool({ enableFilter: true })
    const without = await tool()
    expect(ids(await with_.execute({ queryText: 'apples', filter }))).toEqual(['c1', 'c3'])
    expect(ids(await without.execute({ queryText: 'apples', filter }))).toHaveLength(4)
  })

  it('has a valid name and a description by default', async () => {
    const model = embed
    expect(createVectorQueryTool({ vectorStoreName: 'my store!', indexName: 'docs', model }).id).toBe(
      'VectorQuery_my_store__docs_Tool',
    )
    const { id, description } = createVectorQueryTool({
      model,
      vectorStoreName: 'x'.repeat(99),
      indexName: 'docs',
    })
    expect(id).toMatch(/^[\w.-]{1,64}$/)
    expect(description).toContain('"docs"')
    expect((await tool({ id: 'search', description: 'Mine' })).id).toBe('search')
  })

  it('the request context overrides all but model, id and description', async () => {
    const search = await tool({ enableFilter: true })
    const store = await fruit()
    await store.createIndex({ indexName: 'empty', dimension: DIMENSION })
    const run = (entries: Record<string, unknown>) =>
      search.execute({ queryText: 'apples', topK: 4 }, values(entries))

    expect(ids(await run({ topK: 1 }))).toHaveLength(1)
    expect(ids(await run({ filter: { page: { $gt: 2 } } }))).toEqual(['c3'])
    expect((await run({ includeSources: false })).sources).toEqual([])
    expect((await run({ includeVectors: true })).sources[0]!.vector).toHaveLength(DIMENSION)
    expect(ids(await run({ databaseConfig: { pgvector: { minScore: 0.5 } } }))).toEqual(['c0'])
    expect(
      ids(await run({ vectorStoreName: 'other', vectorStores: { other: store }, indexName: 'empty' })),
    ).toEqual([])
    const reranker = {
      model: (_: string, texts: string[]) => texts.map((text) => (text.includes('bread') ? 1 : 0)),
    }
    expect(ids(await run({ reranker }))[0]).toBe('c3')
  })

  it.each([
    [{ vectorStore: undefined }, {}, 'needs "vectorStoreName"'],
    [{ indexName: undefined }, {}, 'needs "indexName"'],
    [{ vectorStore: undefined, vectorStoreName: 'gone' }, {}, 'Unknown vector store "gone"'],
    [{}, { vectorStoreName: 'toString' }, 'Unknown vector store "toString"'],
    [{}, { topK: '5' }, '"topK" in the request context must be of type number'],
    [{}, { indexName: 'x"; drop table' }, 'An index name must have'],
    [{ filter: () => undefined }, {}, 'The "filter" function of createVectorQueryTool returned nothing'],
  ])('%j with %j is an error that names the value', async (options, entries, message) => {
    const search = createVectorQueryTool({
      vectorStore: await fruit(),
      indexName: 'docs',
      model: embed,
      ...options,
    } as never)
    await expect(search.execute({ queryText: 'apples' }, values(entries))).rejects.toThrow(message)
  })

  it.each([
    [{ model: 'Cohere' }, '"model" must be a function'],
    [{ model: undefined }, '"model" must be a function'],
    [{ indexName: 'a b' }, 'An index name must have'],
    [{ vectorStore: {} }, 'has no query()'],
    [{ filter: { a: { $like: 1 } } }, 'Unknown filter operator "$like"'],
    [{ reranker: { model: () => [], options: { weights: { semantic: 1 } } } }, 'add up to 1'],
    [{ reranker: { model: {} } }, '"reranker.model" must be'],
  ])('%j is refused when the tool is created', async (options, message) => {
    await expect(tool(options as never)).rejects.toThrow(message)
  })

  it('over MCP has an output schema and structured content', async () => {
    const server = new MCPServer({ name: 'x', version: '1', tools: { search: await tool() } })
    const result = await call(server, 'search', { queryText: 'apples', topK: '1' })
    expect(result.structuredContent.relevantContext).toEqual([{ text: TEXTS[0], page: 0, team: 'a' }])
    const { outputSchema, inputSchema } = server.getToolInfo('search')!
    expect(outputSchema).toMatchObject({ type: 'object', required: ['relevantContext', 'sources'] })
    expect(inputSchema).toMatchObject({ required: ['queryText'], properties: { topK: { maximum: 1000 } } })
  })

  it('a store may be picked by a function of the caller', async () => {
    const store = await fruit()
    const search = createVectorQueryTool({
      indexName: 'docs',
      model: embed,
      vectorStore: ({ requestContext, auth, env }) => {
        if (requestContext.get('tenant') !== 'a' || auth !== undefined || env.X !== 1) throw new Error('who?')
        return store
      },
    })
    const context = { ...values({ tenant: 'a' }), env: { X: 1 } }
    expect(ids(await search.execute({ queryText: 'apples', topK: 1 }, context))).toEqual(['c0'])
    await expect(search.execute({ queryText: 'apples' })).rejects.toThrow('who?')
  })

  it('a store receives only what was parsed of a filter', async () => {
    const seen: (QueryParams & { ef?: unknown })[] = []
    const store = {
      async query(params: QueryParams) {
        seen.push(params)
        return []
      },
    }
    const search = createVectorQueryTool({
      vectorStore: store,
      indexName: 'docs',
      model: embed,
      enableFilter: true,
      filter: { tenant: 'a' },
      databaseConfig: { pgvector: { ef: 200 }, other: { indexName: 'stolen', filter: {}, topK: 9 } },
    })
    await search.execute({ queryText: 'x', filter: { tenant: 'b', n: { $gte: 1, $lt: 2 } } })
    expect(seen).toEqual([
      {
        indexName: 'docs',
        queryVector: embedText('x'),
        topK: 10,
        includeVector: false,
        ef: 200,
        filter: {
          $and: [
            { tenant: { $eq: 'a' } },
            { $and: [{ tenant: { $eq: 'b' } }, { $and: [{ n: { $gte: 1 } }, { n: { $lt: 2 } }] }] },
          ],
        },
      },
    ])
  })
})

describe('the request context', () => {
  const seen = createTool({
    id: 'seen',
    execute: (_, { requestContext }) =>
      JSON.stringify(['topK', 'filter', 'tenant', 'indexName'].map((key) => requestContext.get(key) ?? null)),
  })

  it('is filled by setup, and by the client’s _meta for listed keys alone', async () => {
    const provide = provideRetrieval({ fromMeta: ['topK', 'filter', 'tenant'] })
    const server = new MCPServer({
      name: 'x',
      version: '1',
      tools: { seen },
      setup: (request) => {
        request.context.requestContext.set('tenant', 'a')
        request.context.requestContext.set('filter', { tenant: 'a' })
        provide(request)
      },
    })
    const meta = { topK: 3, tenant: 'b', indexName: 'secret', filter: { tenant: 'b' } }
    const { content } = await call(server, 'seen', {}, meta)
    expect(JSON.parse(content[0]!.text)).toEqual([
      3,
      { $and: [{ tenant: { $eq: 'a' } }, { tenant: { $eq: 'b' } }] },
      'a',
      null,
    ])
  })

  it.each([['{"a"'], [{ $x: 1 }], [[]], ['{}x']])(
    'a filter %j of a client’s _meta is an error of the call, and never drops the server’s own',
    async (filter) => {
      const provide = provideRetrieval({ fromMeta: ['filter'] })
      const server = new MCPServer({
        name: 'x',
        version: '1',
        tools: { search: await tool() },
        setup: (request) => {
          request.context.requestContext.set('filter', { team: 'a' })
          provide(request)
        },
      })
      const { isError, content } = await call(server, 'search', { queryText: 'apples' }, { filter })
      expect(isError).toBe(true)
      expect(content[0]!.text).toMatch(/filter|operator/i)
    },
  )

  it('gives tools the stores of the server by name', async () => {
    const server = new MCPServer({
      name: 'x',
      version: '1',
      tools: {
        search: createVectorQueryTool({ vectorStoreName: 'fruit', indexName: 'docs', model: embed }),
        graph: createGraphRAGTool({ vectorStoreName: 'fruit', indexName: 'docs', model: embed }),
      },
      setup: provideRetrieval({ vectorStores: { fruit: await fruit() } }),
    })
    for (const name of ['search', 'graph']) {
      const { structuredContent } = await call(server, name, { queryText: 'apples', topK: 1 })
      expect(structuredContent.sources).toHaveLength(1)
    }
  })

  it('shows no store to what stores or traces its values', async () => {
    const values = new Map<string, unknown>()
    const requestContext = {
      set: values.set.bind(values),
      get: values.get.bind(values),
      has: values.has.bind(values),
    }
    provideRetrieval({ vectorStores: { a: { query: async () => [], password: 'secret' } as never } })({
      context: { requestContext } as never,
    })
    expect(JSON.stringify([...values])).toBe('[["vectorStores",{}]]')
    const search = createVectorQueryTool({ vectorStoreName: 'a', indexName: 'docs', model: embed })
    expect(await search.execute({ queryText: 'x' }, { requestContext: values })).toEqual({
      relevantContext: [],
      sources: [],
    })
  })

  it.each(['vectorStores', 'databaseConfig', 'reranker', 'user', 'mcp.extra'])(
    'a client never sets %s',
    (key) => {
      expect(() => provideRetrieval({ fromMeta: [key] })).toThrow('a client must not set it')
    },
  )
})
