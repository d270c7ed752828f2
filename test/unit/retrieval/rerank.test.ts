import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createMemoryVectorStore,
  createVectorQueryTool,
  type RerankerConfig,
} from '../../../src/retrieval.ts'

const indexName = 'i'
const query = { queryText: 'what' }

/** Three chunks, whose scores are 1, 0.8 and 0.6. */
async function tool(reranker: RerankerConfig) {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName, dimension: 2 })
  await store.upsert({
    indexName,
    vectors: [
      [1, 0],
      [0.8, 0.6],
      [0.6, 0.8],
    ],
    ids: ['a', 'b', 'c'],
    metadata: ['one', 'two', 'three'].map((text) => ({ text })),
  })
  return createVectorQueryTool({ vectorStore: store, indexName, model: () => [[1, 0]], reranker })
}

const found = async (reranker: RerankerConfig) => {
  const { sources, notice } = await (await tool(reranker)).execute(query)
  return {
    ids: sources.map(({ id }) => id),
    scores: sources.map(({ score }) => Math.round(score * 1000) / 1000),
    notice,
  }
}

describe('a reranker', () => {
  it('is OpenAI’s language model by name', async () => {
    const requests: unknown[] = []
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      requests.push([url, JSON.parse(String(init.body)), init.headers])
      return Response.json({ choices: [{ message: { content: 'Scores: [0, 1, 0.5]' } }] })
    })
    onTestFinished(() => void vi.unstubAllGlobals())
    const options = { weights: { semantic: 1, vector: 0, position: 0 } }
    const search = await tool({ model: 'openai/gpt-5-mini', options })
    const env = { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: 'http://127.0.0.1/v1' }
    const { sources } = await search.execute(query, { env })
    expect(sources.map(({ id }) => id)).toEqual(['b', 'c', 'a'])
    expect(requests).toEqual([
      [
        'http://127.0.0.1/v1/chat/completions',
        {
          model: 'gpt-5-mini',
          messages: [
            { role: 'system', content: expect.any(String) },
            { role: 'user', content: expect.stringContaining('"two"') },
          ],
        },
        expect.objectContaining({ authorization: 'Bearer sk-x' }),
      ],
    ])
    // Without a key, by similarity.
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect((await search.execute(query, {})).notice).toContain('Reranking failed')
  })

  it('of single passages is called for the best 50 of any number', async () => {
    const store = createMemoryVectorStore()
    await store.createIndex({ indexName, dimension: 2 })
    const numbers = Array.from({ length: 200 }, (_, at) => at)
    await store.upsert({
      indexName,
      vectors: numbers.map((at) => [1, at / 100]),
      ids: numbers.map(String),
      metadata: numbers.map((at) => ({ text: String(at) })),
    })
    const called: string[] = []
    const search = createVectorQueryTool({
      vectorStore: store,
      indexName,
      model: () => [[1, 0]],
      reranker: {
        model: {
          getRelevanceScore: async (_: string, text: string) => {
            called.push(text)
            return Number(text) / 200
          },
        },
      },
    })

    const { sources } = await search.execute({ ...query, topK: 200 })
    expect(sources).toHaveLength(200)
    expect(called.toSorted((one, other) => Number(one) - Number(other))).toEqual(
      numbers.slice(0, 50).map(String),
    )
  })

  it('orders by the weighted sum of what the model says, the score and the position', async () => {
    const model = (text: string, texts: string[]) => {
      expect([text, texts]).toEqual(['what', ['one', 'two', 'three']])
      return [0, 0.5, 1]
    }
    const weights = { semantic: 0.5, vector: 0.3, position: 0.2 }
    expect(await found({ model, options: { weights } })).toEqual({
      ids: ['c', 'b', 'a'],
      scores: [0.747, 0.623, 0.5],
      notice: undefined,
    })
    expect((await found({ model, options: { weights, topK: 1 } })).ids).toEqual(['c'])
  })

  it.each([
    ['a relevance scorer', { getRelevanceScore: async (_: string, text: string) => text.length / 10 }],
    [
      'a reranking model of the AI SDK',
      {
        doRerank: async ({ documents }: { documents: { values: string[] } }) => ({
          ranking: documents.values.map((_, index) => ({ index: 2 - index, relevanceScore: 1 - index / 3 })),
        }),
      },
    ],
    [
      'a language model',
      {
        doGenerate: async () => ({
          content: [{ type: 'reasoning' }, { type: 'text', text: 'Here: [0.1, 0.2, 1]' }],
        }),
      },
    ],
  ])('takes %s', async (_, model) => {
    expect(
      (await found({ model, options: { weights: { semantic: 1, vector: 0, position: 0 } } })).ids[0],
    ).toBe('c')
  })

  it('that is late is not waited for: the order of the vectors is used, and the answer says so', async () => {
    let signal: AbortSignal | undefined
    const model = (_: string, __: string[], options: { signal: AbortSignal }) => {
      signal = options.signal
      return new Promise<number[]>(() => {})
    }
    expect(await found({ model, options: { timeoutMs: 20, topK: 2 } })).toEqual({
      ids: ['a', 'b'],
      scores: [1, 0.8],
      notice: 'Reranking took over 20 ms: the results are ordered by similarity.',
    })
    expect(signal?.aborted).toBe(true)
  })

  it.each([
    ['throws', () => Promise.reject(new Error('secret'))],
    ['returns too few scores', () => [1]],
    ['returns no numbers', () => [1, Number.NaN, 2]],
  ])('that %s leaves the order of the vectors, and says so without its reason', async (_, model) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { ids, notice } = await found({ model })
    expect([ids, notice]).toEqual([
      ['a', 'b', 'c'],
      'Reranking failed: the results are ordered by similarity.',
    ])
    expect(error).toHaveBeenCalledOnce()
    error.mockRestore()
  })

  it('without a share of the result, the model is not asked', async () => {
    const model = vi.fn(() => [0, 0, 0])
    await found({ model, options: { weights: { semantic: 0, vector: 0.5, position: 0.5 } } })
    expect(model).not.toHaveBeenCalled()
  })

  it('ends with the call', async () => {
    const controller = new AbortController()
    const reason = new Error('gone')
    const model = () => {
      controller.abort(reason)
      return Promise.reject(new Error('aborted'))
    }
    const search = await tool({ model })
    await expect(search.execute(query, { signal: controller.signal })).rejects.toThrow('gone')
  })
})
