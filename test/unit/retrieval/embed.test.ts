import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createVectorQueryTool,
  EmbeddingError,
  type EmbeddingModel,
  type QueryParams,
} from '../../../src/retrieval.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** The vector that a tool with this model asks its store for. */
async function embedded(model: EmbeddingModel, context: object = {}, providerOptions?: object) {
  let vector: readonly number[] | undefined
  const vectorStore = {
    async query({ queryVector }: QueryParams) {
      vector = queryVector
      return []
    },
  }
  const tool = createVectorQueryTool({
    vectorStore,
    indexName: 'i',
    model,
    providerOptions: providerOptions as never,
  })
  await tool.execute({ queryText: 'hello' }, context)
  return vector
}

/** OpenAI's embeddings endpoint, as its API reference describes it. */
async function openAi(status = 200) {
  const requests: { url?: string; authorization?: string; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { authorization } = request.headers
    requests.push({
      ...(request.url && { url: request.url }),
      ...(authorization && { authorization }),
      body: JSON.parse(text),
    })
    response.writeHead(status, { 'content-type': 'application/json' })
    const data = [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }]
    response.end(
      JSON.stringify(status === 200 ? { object: 'list', data } : { error: { message: 'key sk-secret' } }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const env = {
    OPENAI_API_KEY: 'sk-x',
    OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`,
  }
  return { requests, env }
}

describe('an embedding model', () => {
  it('is a function of the texts, which also gets env, signal and provider options', async () => {
    const env = { KEY: 1 }
    const model: EmbeddingModel = (texts, call) => {
      expect([texts, call.env, call.signal instanceof AbortSignal]).toEqual([['hello'], env, true])
      expect(call.providerOptions).toEqual({ x: { y: 1 } })
      return [Float32Array.of(1, 2)]
    }
    expect(await embedded(model, { env }, { x: { y: 1 } })).toEqual([1, 2])
  })

  it('is a model of the AI SDK', async () => {
    const seen: unknown[] = []
    const model: EmbeddingModel = {
      maxEmbeddingsPerCall: Promise.resolve(2),
      async doEmbed({ values, abortSignal, providerOptions }) {
        seen.push(values, abortSignal instanceof AbortSignal, providerOptions)
        return { embeddings: values.map(() => [3, 4]) }
      },
    }
    expect(await embedded(model, {}, { openai: { dimensions: 2 } })).toEqual([3, 4])
    expect(seen).toEqual([['hello'], true, { openai: { dimensions: 2 } }])
  })

  it('is run by a binding, also one of the environment', async () => {
    const binding = {
      run: async (model: string, input: object) => ({
        shape: [1, 2],
        data: [[model.length, JSON.stringify(input).length]],
      }),
    }
    const model = '@cf/baai/bge-m3'
    expect(await embedded({ binding, model })).toEqual([15, 18])
    expect(await embedded({ binding: (env) => env.AI, model }, { env: { AI: binding } })).toEqual([15, 18])
    await expect(embedded({ binding: (env) => env.AI, model })).rejects.toThrow(
      '"@cf/baai/bge-m3" has no run()',
    )
  })

  it('is OpenAI by name', async () => {
    const { requests, env } = await openAi()
    expect(await embedded('openai/text-embedding-3-small', { env }, { openai: { dimensions: 2 } })).toEqual([
      0.5, -0.5,
    ])
    expect(requests).toEqual([
      {
        url: '/v1/embeddings',
        authorization: 'Bearer sk-x',
        body: { model: 'text-embedding-3-small', input: ['hello'], encoding_format: 'float', dimensions: 2 },
      },
    ])
  })

  it('OpenAI’s refusal is an error with its status, without its text', async () => {
    const { env } = await openAi(401)
    const error = await embedded('openai/x', { env }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(EmbeddingError)
    expect(error).toMatchObject({
      code: 'EMBEDDING_FAILED',
      status: 401,
      message: expect.not.stringContaining('secret'),
    })
    await expect(embedded('openai/x')).rejects.toThrow('set OPENAI_API_KEY')
  })

  it('that returns another number of vectors is refused', async () => {
    await expect(embedded(() => [])).rejects.toThrow('returned 0 vectors for 1 strings')
  })
})
