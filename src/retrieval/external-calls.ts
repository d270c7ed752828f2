/**
 * Calls to external models and stores. Their error messages may quote a connection string or a key, so they only go to the operator's log.
 * Their results may be anything, so they are corrected or refused.
 */
import { isA } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { EmbeddingError, type toEmbed } from './embed.ts'
import { FilterError } from './filter.ts'
import type { Settings } from './options.ts'
import { type QueryParams, type QueryResult, VectorStoreError, withCause } from './store.ts'

/** Embeds one string. @throws EmbeddingError if the model fails, without its message. */
export async function embedText(
  embed: ReturnType<typeof toEmbed>,
  text: string,
  { env, signal, providerOptions }: Pick<Settings, 'env' | 'signal' | 'providerOptions'>,
): Promise<readonly number[]> {
  const vectors = await ask(
    () => embed([text], { env, signal, providerOptions }),
    signal,
    (error) =>
      isA(error, EmbeddingError)
        ? error
        : withCause(new EmbeddingError('The embedding model failed: see the server’s log.'), error),
  )
  return vectors[0] ?? []
}

/** Calls a store. @throws VectorStoreError if it fails, without its message. */
export function askStore<Value>(
  act: () => PromiseLike<Value>,
  { signal }: Pick<Settings, 'signal'>,
): Promise<Value> {
  return ask(act, signal, (error) =>
    isA(error, VectorStoreError) || isA(error, FilterError)
      ? error
      : withCause(
          new VectorStoreError('STORE_FAILED', 'The vector store failed: see the server’s log.'),
          error,
        ),
  )
}

/** Searches a store of any kind. At most `topK` results, whose members are of the types that `QueryResult` names. */
export async function queryStore(
  settings: Pick<Settings, 'store' | 'signal'>,
  params: QueryParams & { readonly topK: number; readonly [option: string]: unknown },
): Promise<readonly QueryResult[]> {
  // The parameters that every store accepts; see `SearchableStore`.
  const found: unknown = await askStore(() => settings.store.query(params as never), settings)
  if (!Array.isArray(found))
    throw new VectorStoreError('STORE_FAILED', 'The vector store did not return a list of results.')
  return found.filter(isObject).slice(0, params.topK).map(toResult)
}

function toResult(given: Record<string, unknown>): QueryResult {
  const { id, score, metadata, vector } = given
  const text = given.document
  const numbers = toNumbers(vector)
  return {
    id: String(id),
    // For example the angle to a zero vector.
    score: typeof score === 'number' && Number.isFinite(score) ? score : 0,
    metadata: isObject(metadata) ? metadata : {},
    ...(typeof text === 'string' && { document: text }),
    ...(numbers !== undefined && { vector: numbers }),
  }
}

function toNumbers(vector: unknown): readonly number[] | undefined {
  if (!Array.isArray(vector) && !ArrayBuffer.isView(vector)) return undefined
  const numbers: unknown[] = Array.isArray(vector) ? vector : Array.from(vector as Float32Array)
  return numbers.every((one) => Number.isFinite(one)) ? (numbers as number[]) : undefined
}

/** Ends with the call, even if a model or a store ignores the signal. */
async function ask<Value>(
  act: () => PromiseLike<Value>,
  signal: AbortSignal | undefined,
  toFailure: (error: unknown) => Error,
): Promise<Value> {
  signal?.throwIfAborted()
  let stop = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([act(), aborted])
  } catch (error) {
    signal?.throwIfAborted()
    throw toFailure(error)
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
