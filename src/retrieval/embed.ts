/**
 * Embedding models: a function, a model of the AI SDK, a binding that runs models, or OpenAI by name.
 */
import type { Env } from '../definition/context.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'

/** What a model receives in addition to the strings. */
export interface EmbeddingCall {
  /** The platform's bindings or environment variables. */
  readonly env: Env
  readonly signal?: AbortSignal | undefined
  /** Passed to models of the AI SDK. `openai/<model>` uses `dimensions` and `user` of `openai`. */
  readonly providerOptions?: ProviderOptions | undefined
}

export interface ProviderOptions {
  readonly [provider: string]: { readonly [option: string]: unknown }
}

/** Turns strings into vectors, in the same order. */
export type EmbedFunction = (
  texts: string[],
  call: EmbeddingCall,
) => PromiseLike<readonly ArrayLike<number>[]> | readonly ArrayLike<number>[]

/** An embedding model of the AI SDK, such as `openai.embedding('text-embedding-3-small')`. */
export interface AiSdkEmbeddingModel {
  readonly maxEmbeddingsPerCall?: number | undefined | PromiseLike<number | undefined>
  doEmbed(options: {
    values: string[]
    abortSignal?: AbortSignal
    providerOptions?: ProviderOptions
  }): PromiseLike<{ embeddings: readonly (readonly number[])[] }>
}

/** A binding with `run(model, { text })`, such as Workers AI's. */
export interface AiBinding {
  run(model: string, input: object): PromiseLike<unknown>
}

/** A model run by a binding: `{ binding: (env) => env.AI, model: '@cf/baai/bge-m3' }`. */
export interface BoundEmbeddingModel {
  readonly binding: AiBinding | ((env: Env) => unknown)
  readonly model: string
}

/** An embedding model. A string is `openai/` and a model's name, with the key from `OPENAI_API_KEY`. */
export type EmbeddingModel = EmbedFunction | AiSdkEmbeddingModel | BoundEmbeddingModel | `openai/${string}`

/** Strings per call for models without a stated limit: the maximum of Workers AI. */
const DEFAULT_BATCH = 100
const OPENAI_BATCH = 512
const OPENAI_TIMEOUT_MS = 30_000
const OPENAI_URL = 'https://api.openai.com/v1'

/**
 * Checks a model and returns it as a function.
 *
 * @throws TypeError for anything else.
 */
export function toEmbed(
  model: EmbeddingModel,
): (texts: readonly string[], call: EmbeddingCall) => Promise<number[][]> {
  const embed = toFunction(model)
  return async (texts, call) => {
    const size = (await limitOf(model)) ?? DEFAULT_BATCH
    const vectors: number[][] = []
    for (let at = 0; at < texts.length; at += size) {
      const batch = texts.slice(at, at + size)
      const embedded = await embed(batch, call)
      if (!Array.isArray(embedded) || embedded.length !== batch.length)
        throw new EmbeddingError(
          `The embedding model returned ${embedded?.length ?? 'no'} vectors for ${batch.length} strings.`,
        )
      for (const vector of embedded) vectors.push(Array.from(vector))
    }
    return vectors
  }
}

function toFunction(model: EmbeddingModel): EmbedFunction {
  if (typeof model === 'function') return model
  if (typeof model === 'string' && model.startsWith('openai/')) return openAi(model.slice('openai/'.length))
  if (typeof model === 'object' && model !== null) {
    if ('doEmbed' in model && typeof model.doEmbed === 'function') return aiSdk(model)
    if ('binding' in model && typeof model.model === 'string') return bound(model)
  }
  throw new TypeError(
    '"model" must be a function (texts) => vectors, an embedding model of the AI SDK, { binding, model }, or "openai/<model>".',
  )
}

async function limitOf(model: EmbeddingModel): Promise<number | undefined> {
  if (typeof model === 'string') return OPENAI_BATCH
  if (typeof model === 'function' || !('doEmbed' in model)) return undefined
  const limit = await model.maxEmbeddingsPerCall
  return limit !== undefined && limit >= 1 && Number.isFinite(limit) ? Math.floor(limit) : undefined
}

function aiSdk(model: AiSdkEmbeddingModel): EmbedFunction {
  return async (values, { signal, providerOptions }) => {
    const { embeddings } = await model.doEmbed({
      values,
      ...(signal !== undefined && { abortSignal: signal }),
      ...(providerOptions !== undefined && { providerOptions }),
    })
    return embeddings
  }
}

const BOUND: Names<BoundEmbeddingModel> = { binding: 'object', model: 'string' }

function bound(options: BoundEmbeddingModel): EmbedFunction {
  refuseUnknown('"model"', options, BOUND)
  const { binding, model } = options
  return async (text, { env }) => {
    const given = typeof binding === 'function' ? binding(env) : binding
    if (typeof (given as Partial<AiBinding> | undefined)?.run !== 'function')
      throw new EmbeddingError(
        `The binding for the embedding model "${model}" has no run(): add it to the deployment's configuration.`,
      )
    const { data } = (await (given as AiBinding).run(model, { text })) as { data: number[][] }
    return data
  }
}

function openAi(model: string): EmbedFunction {
  return async (input, { env, signal, providerOptions }) => {
    const key = env.OPENAI_API_KEY
    if (typeof key !== 'string' || key === '')
      throw new EmbeddingError(
        `The embedding model "openai/${model}" needs a key: set OPENAI_API_KEY on this deployment.`,
      )
    const { dimensions, user } = providerOptions?.openai ?? {}
    const base =
      typeof env.OPENAI_BASE_URL === 'string' ? env.OPENAI_BASE_URL.replace(/\/+$/, '') : OPENAI_URL
    const timeout = AbortSignal.timeout(OPENAI_TIMEOUT_MS)
    const response = await fetch(`${base}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, encoding_format: 'float', dimensions, user }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (!response.ok)
      throw new EmbeddingError(
        `The embedding model "openai/${model}" answered with HTTP ${response.status}.`,
        response.status,
      )
    const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] }
    return data.sort((one, other) => one.index - other.index).map(({ embedding }) => embedding)
  }
}

/** A failure of the model. Does not contain the model's own message, which may quote the input or the key. */
export class EmbeddingError extends Error {
  readonly code = 'EMBEDDING_FAILED'
  /** The HTTP status of a provider's refusal. */
  readonly status: number | undefined
  override readonly name = 'EmbeddingError'

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}
