/** The options of search tools and vector stores. */
import {
  chromaVector,
  createGraphRAGTool,
  createMemoryVectorStore,
  createVectorQueryTool,
  libSqlVector,
  pgVector,
  pineconeVector,
  provideRetrieval,
  qdrantVector,
  upstashVector,
} from 'mayfly-mcp/retrieval'
import type { Taker, Takers } from './_walk.ts'

const FILTER = 'the names of fields'
const DATABASE = {
  pgvector: { minScore: 0.5, ef: 100 },
  pinecone: { namespace: 'a', sparseVector: { indices: [], values: [] } },
  chroma: { where: { a: 1 }, whereDocument: { a: 1 } },
}
const OPEN = {
  filter: FILTER,
  vectorStores: 'the names of stores',
  databaseConfig: 'the names of stores, also of other packages',
  'databaseConfig.pinecone.sparseVector': 'passed to Pinecone',
  'databaseConfig.chroma.where': 'in Chroma’s own format',
  'databaseConfig.chroma.whereDocument': 'in Chroma’s own format',
  providerOptions: 'the names of providers',
  'providerOptions.openai': 'passed to the model',
}
const store = createMemoryVectorStore()
await store.createIndex({ indexName: 'docs', dimension: 2 })
const TOOL = {
  vectorStore: new (class {
    query = store.query
  })(),
  vectorStores: {},
  indexName: 'docs',
  model: { binding: () => {}, model: '@cf/baai/bge-m3' },
  filter: { tenant: 'a' },
  databaseConfig: DATABASE,
  providerOptions: { openai: { dimensions: 2 } },
}
const RERANKER = {
  model: () => [],
  options: { weights: { semantic: 1, vector: 0, position: 0 }, topK: 1, timeoutMs: 10 },
}
const QUERY = {
  indexName: 'docs',
  queryVector: [1, 0],
  topK: 1,
  filter: { tenant: 'a' },
  includeVector: false,
}
const isFor = (call: (options: never) => unknown, options: object): Taker => ({ call, options })
const url = 'http://127.0.0.1:1'
const driver = new (class {
  execute(): void {}
  batch(): void {}
  query(): void {}
})()

export const RETRIEVAL: {
  readonly [entry: string]: Takers
} = {
  'mayfly-mcp/retrieval': {
    EmbeddingError: 'an error: a message, and the options of Error',
    FilterError: 'an error: a message',
    VectorStoreError: 'an error: a code and a message',
    chromaVector: isFor(chromaVector, { url, apiKey: 'k', tenant: 't', database: 'd', timeoutMs: 10 }),
    createGraphRAGTool: {
      call: createGraphRAGTool,
      options: { ...TOOL, graphOptions: { threshold: 0.5, maxNodes: 10 } },
      open: OPEN,
    },
    createMemoryVectorStore: 'takes what snapshot() made',
    createVectorQueryTool: {
      call: createVectorQueryTool,
      options: { ...TOOL, reranker: RERANKER },
      open: OPEN,
    },
    libSqlVector: isFor(libSqlVector, { client: driver, metric: 'cosine' }),
    pgVector: isFor(pgVector, { client: driver, schema: 'a', metric: 'cosine', index: 'none' }),
    pineconeVector: {
      ...isFor(pineconeVector, { apiKey: 'k', namespace: 'n', serverless: { cloud: 'a', region: 'b' } }),
      open: { serverless: 'passed to Pinecone' },
    },
    provideRetrieval: {
      call: provideRetrieval,
      options: { vectorStores: {}, fromMeta: ['topK'] },
      open: { vectorStores: 'the names of stores' },
    },
    qdrantVector: isFor(qdrantVector, { url, apiKey: 'k', timeoutMs: 10 }),
    upstashVector: isFor(upstashVector, { url, token: 't', timeoutMs: 10 }),
    vectorizeVector: 'takes the bindings of indexes, by name',
  },
  'methods of a vector store': {
    query: { call: store.query, options: QUERY, open: { filter: FILTER }, misspelt: { '': 'filters' } },
    upsert: {
      call: store.upsert,
      options: { indexName: 'docs', vectors: [], metadata: [], ids: [] },
    },
    createIndex: { call: store.createIndex, options: { indexName: 'docs', dimension: 2, metric: 'cosine' } },
    deleteVector: { call: store.deleteVector, options: { indexName: 'docs', id: 'a' } },
    deleteVectors: { call: store.deleteVectors, options: { indexName: 'docs', ids: [] } },
    describeIndex: { call: store.describeIndex, options: { indexName: 'docs' } },
    listIds: { call: store.listIds, options: { indexName: 'docs', prefix: 'a' } },
  },
}
