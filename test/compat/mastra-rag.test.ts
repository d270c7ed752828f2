/** The examples of Mastra's documentation of retrieval: a store and a filter that depend on the caller, with the types that they import. */
import { expect, it } from 'vitest'
import { MCPServer } from '../../src/mastra.ts'
import {
  createMemoryVectorStore,
  createVectorQueryTool,
  type MemoryVectorStore,
  type VectorFilter,
  type VectorStoreResolver,
} from '../../src/retrieval.ts'
import { call } from './_call.ts'

async function storeOf(...texts: string[]): Promise<MemoryVectorStore> {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName: 'docs', dimension: 2 })
  const metadata = texts.map((text, at) => ({ text, year: 2020 + at }))
  await store.upsert({ indexName: 'docs', vectors: texts.map((_, at) => [1, at]), metadata })
  return store
}

const model = (texts: readonly string[]): number[][] => texts.map(() => [1, 0])

it('"Dynamic vector store": a function picks the store of the tenant', async () => {
  const stores: Record<string, MemoryVectorStore> = {
    acme: await storeOf('of acme'),
    other: await storeOf('of another'),
  }
  const vectorStore: VectorStoreResolver = async ({ requestContext }) =>
    stores[requestContext?.get('tenantId') as string]!
  const search = createVectorQueryTool({ vectorStore, indexName: 'docs', model })
  const requestContext = new Map([['tenantId', 'acme']])
  const { relevantContext } = await search.execute({ queryText: 'x', topK: 5 }, { requestContext })
  expect(relevantContext).toEqual([{ text: 'of acme', year: 2020 }])
})

it('"Metadata filtering": a VectorFilter applies to what a tool of a server finds', async () => {
  const filter: VectorFilter = { year: { $gt: 2020 } }
  const search = createVectorQueryTool({
    vectorStore: await storeOf('old', 'new'),
    indexName: 'docs',
    model,
    filter,
  })

  const server = new MCPServer({ name: 'Docs', version: '1.0.0', tools: { search }, log: false })
  const found = await call(server, 'search', { queryText: 'x', topK: 5 })
  expect(found.structuredContent).toMatchObject({ sources: [{ metadata: { text: 'new' } }] })
})
