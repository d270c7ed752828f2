/** Models and stores of others: what they say, return and never answer. */
import { describe, expect, it } from 'vitest'
import { MCPServer } from '../../../src/index.ts'
import { createGraphRAGTool, createVectorQueryTool, type SearchableStore } from '../../../src/retrieval.ts'
import { toCall } from './_call.ts'

const indexName = 'i'
const SECRET = 'postgres://user:hunter2@db.internal'
const fail = (): never => {
  throw new Error(`cannot connect to ${SECRET}`)
}
const hang = () => new Promise<never>(() => {})
const model = () => [[1, 0]]
const found = (...results: unknown[]) => ({ query: async () => results as never })

describe.each([
  ['createVectorQueryTool', createVectorQueryTool],
  ['createGraphRAGTool', createGraphRAGTool],
])('%s', (_, create) => {
  it.each<[string, { vectorStore: SearchableStore; model: () => never[] | number[][] }, string]>([
    ['a store', { vectorStore: { query: async () => fail() }, model }, 'The vector store failed'],
    ['a store that throws at once', { vectorStore: { query: fail }, model }, 'The vector store failed'],
    [
      'a count',
      { vectorStore: { ...found(), describeIndex: async () => fail() }, model },
      'The vector store failed',
    ],
    ['a model', { vectorStore: found(), model: fail }, 'The embedding model failed'],
  ])('what %s says of its failure is for the log, not for the client', async (what, options, message) => {
    if (what === 'a count' && create === createVectorQueryTool) return
    const logged: unknown[] = []
    const server = new MCPServer({
      name: 'x',
      version: '1',
      tools: { search: create({ ...options, indexName }) },
      onError: (error) => void logged.push(error),
    })
    const response = await server.fetch(toCall('search', { queryText: 'x' }))
    const text = await response.text()
    expect(text).toContain(message)
    expect(text).not.toContain('hunter2')
    expect((logged[0] as Error).cause).toMatchObject({ message: expect.stringContaining('hunter2') })
  })

  it.each([
    ['store', { vectorStore: { query: hang }, model }],
    ['model', { vectorStore: found(), model: hang as never }],
  ])('a %s that never answers does not outlast the call', async (_what, options) => {
    const controller = new AbortController()
    const call = create({ ...options, indexName }).execute({ queryText: 'x' }, { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('gone')), 10)
    await expect(call).rejects.toThrow('gone')
  })

  it.each([[null], ['text'], [{}]])(
    'a store that returns %j instead of results is an error',
    async (results) => {
      const tool = create({ vectorStore: { query: async () => results as never }, indexName, model })
      await expect(tool.execute({ queryText: 'x' })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    },
  )

  it('results of wrong types become right ones, and no more than were asked for', async () => {
    const vectorStore = found(
      null,
      { id: 7, score: Number.NaN, metadata: null, vector: new Float32Array([1, 0]), document: 3 },
      { id: 'b', metadata: 'none', vector: [0.5, 0.1] },
      { id: 'c', score: 1, metadata: { text: 5 }, vector: [0.6, 0.1] },
      { id: 'd', score: 1, vector: [0.7, 0.1] },
    )
    const tool = create({ vectorStore, indexName, model, includeVectors: true })
    const { sources, relevantContext } = await tool.execute({ queryText: 'x', topK: 3 })
    expect(relevantContext).toHaveLength(3)
    for (const source of sources)
      expect(source).toEqual({
        id: expect.any(String),
        score: expect.any(Number),
        metadata: expect.any(Object),
        document: expect.any(String),
        vector: expect.any(Array),
      })
    expect(JSON.parse(JSON.stringify(sources))).toEqual(sources)
  })
})

it('a graph refuses a vector with a member that is no number', async () => {
  const vectorStore = found(
    { id: 'a', score: 1, vector: [Number.NaN, 1] },
    { id: 'b', score: 1, vector: [1, 1] },
  )
  const tool = createGraphRAGTool({ vectorStore, indexName, model })
  await expect(tool.execute({ queryText: 'x' })).rejects.toThrow('chunks without vectors')
})
