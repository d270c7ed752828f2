/**
 * Embedding models: a function, a model of the AI SDK, a binding that runs models, or one by name.
 */
import type { Env } from '../definition/context.ts'
import { textOf } from '../definition/error-text.ts'
import { keepUnlessFailed } from '../definition/keep-unless-failed.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { AiSdkEmbeddingModel, ProviderOptions } from './ai-sdk.ts'
import { loadEmbeddingModel, type ModelName, readModelName } from './named-model.ts'
import { askOpenAi } from './openai.ts'

/** What a model receives in addition to the strings. */
export interface EmbeddingCall {
  /** The platform's bindings or environment variables. */
  readonly env: Env
  readonly signal?: AbortSignal | undefined
  /** Passed to models of the AI SDK. `openai/<model>` uses `dimensions` and `user` of `openai`. */
  readonly providerOptions?: ProviderOptions | undefined
}

/** Turns strings into vectors, in the same order. */
export type EmbedFunction = (
  texts: string[],
  call: EmbeddingCall,
) => PromiseLike<readonly ArrayLike<number>[]> | readonly ArrayLike<number>[]

/** A binding with `run(model, { text })`, such as Workers AI's. */
export interface AiBinding {
  run(model: string, input: object): PromiseLike<unknown>
}

/** A model run by a binding: `{ binding: (env) => env.AI, model: '@cf/baai/bge-m3' }`. */
export interface BoundEmbeddingModel {
  readonly binding: AiBinding | ((env: Env) => unknown)
  readonly model: string
}

/**
 * An embedding model. A string is a provider and a model's name: `openai/` with the key from `OPENAI_API_KEY`; any other by the provider's
 * package of the AI SDK, such as `@ai-sdk/google`, on Node, Bun and Deno.
 */
export type EmbeddingModel = EmbedFunction | AiSdkEmbeddingModel | BoundEmbeddingModel | ModelName

/** Strings per call for models without a stated limit: the maximum of Workers AI. */
const DEFAULT_BATCH = 100
const OPENAI_BATCH = 512

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
  const named = readModelName(model)
  if (named !== undefined)
    return named.provider === 'openai' ? openAi(named.model) : byName(String(model).trim())
  if (typeof model === 'object' && model !== null) {
    if ('doEmbed' in model && typeof model.doEmbed === 'function') return aiSdk(model)
    if ('binding' in model && typeof model.model === 'string') return bound(model)
  }
  throw new TypeError(
    '"model" must be a function (texts) => vectors, an embedding model of the AI SDK, { binding, model }, or "<provider>/<model>".',
  )
}

async function limitOf(model: EmbeddingModel): Promise<number | undefined> {
  if (typeof model === 'string') return readModelName(model)?.provider === 'openai' ? OPENAI_BATCH : undefined
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

/** Some providers take fewer strings at once than the default. */
function byName(name: string): EmbedFunction {
  const load = keepUnlessFailed(() => loadEmbeddingModel(name), 'package of the model')
  return async (texts, call) => {
    const model = await load().catch((error: unknown) => {
      throw new EmbeddingError(textOf(error))
    })
    const size = (await limitOf(model)) ?? texts.length
    const embedded: ArrayLike<number>[] = []
    for (let at = 0; at < texts.length; at += size)
      embedded.push(...(await aiSdk(model)(texts.slice(at, at + size), call)))
    return embedded
  }
}

function openAi(model: string): EmbedFunction {
  return async (input, { env, signal, providerOptions }) => {
    const { dimensions, user } = providerOptions?.openai ?? {}
    const { data } = (await askOpenAi(
      'embeddings',
      { model, input, encoding_format: 'float', dimensions, user },
      { env, signal },
      `The embedding model "openai/${model}"`,
      (message, status) => new EmbeddingError(message, status),
    )) as { data: { index: number; embedding: number[] }[] }
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
