/** The interface of vector stores, compatible with Mastra's stores. */
import { textOf as textOfThrown } from '../definition/error-text.ts'
import { type Condition, type Filter, parseFilter } from './filter.ts'

/** The similarity of two vectors: by angle, by distance, or by their product. */
export type Metric = 'cosine' | 'euclidean' | 'dotproduct'

export interface CreateIndexParams {
  readonly indexName: string
  readonly dimension: number
  /** Default `cosine`. */
  readonly metric?: Metric | undefined
}

export interface UpsertParams {
  readonly indexName: string
  readonly vectors: readonly (readonly number[])[]
  /** One object per vector; the chunk's text is in `text`. */
  readonly metadata?: readonly Record<string, unknown>[] | undefined
  /** Default: new random ids. A vector with an existing id is replaced. */
  readonly ids?: readonly string[] | undefined
}

export interface QueryParams {
  readonly indexName: string
  readonly queryVector: readonly number[]
  /** Default 10. */
  readonly topK?: number | undefined
  readonly filter?: Filter | undefined
  readonly includeVector?: boolean | undefined
}

/** One found chunk. A higher score is nearer. */
export interface QueryResult {
  readonly id: string
  readonly score: number
  readonly metadata?: Record<string, unknown> | undefined
  readonly vector?: readonly number[] | undefined
  readonly document?: string | undefined
}

export interface IndexStats {
  readonly dimension: number
  /** The number of vectors. */
  readonly count: number
  readonly metric?: Metric | undefined
}

/** What the tools need from a store. The stores of this package have more members: see `VectorStore`. */
export interface SearchableStore {
  /** Takes `QueryParams` and the store's own options. `never`, since each Mastra store has a different filter type. */
  query(params: never): PromiseLike<readonly QueryResult[]>
  describeIndex?(params: { indexName: string }): PromiseLike<IndexStats>
  /** The maximum results of one query, if the store has a limit. */
  readonly maxTopK?: number
  /** Whether a query with `exact: true` compares every vector that the filter allows, and so finds all of them. */
  readonly hasExactQuery?: boolean
  /** Changes whenever a vector of the index is added, replaced or deleted. */
  indexVersion?(params: { indexName: string }): PromiseLike<string>
}

/** A store of this package. Index names have 1 to 63 letters, digits, `_` and `-`. */
export interface VectorStore extends SearchableStore {
  /** Does nothing if the index exists with this dimension. */
  createIndex(params: CreateIndexParams): Promise<void>
  upsert(params: UpsertParams): Promise<string[]>
  query(params: QueryParams & { readonly [option: string]: unknown }): Promise<QueryResult[]>
  deleteVector(params: { indexName: string; id: string }): Promise<void>
  deleteVectors(params: { indexName: string; ids: readonly string[] }): Promise<void>
  describeIndex(params: { indexName: string }): Promise<IndexStats>
  /** The ids that begin with `prefix`, in any order. */
  listIds(params: { indexName: string; prefix: string }): Promise<string[]>
}

/** The code of errors about an index that does not exist. */
export class VectorStoreError extends Error {
  readonly code: 'NO_INDEX' | 'WRONG_DIMENSION' | 'UNSUPPORTED_FILTER' | 'STORE_FAILED'
  /** The HTTP status, of a store that is reached by HTTP. */
  readonly status: number | undefined
  override readonly name = 'VectorStoreError'

  constructor(code: VectorStoreError['code'], message: string, status?: number) {
    super(message)
    this.code = code
    this.status = status
  }
}

/**
 * A database's error message is only for the operator, since it may quote the request. It is the `cause`, and part of the stack, which a
 * server logs.
 */
export function withCause<Failure extends Error>(error: Failure, cause: unknown): Failure {
  const [first, ...frames] = (error.stack ?? '').split('\n')
  const reason = textOfThrown(cause)
  error.stack = [first, `Caused by: ${reason}`, ...frames].join('\n')
  return Object.assign(error, { cause })
}

/** @throws TypeError for a name that is not safe in every store. */
export function checkIndexName(indexName: unknown): string {
  if (typeof indexName === 'string' && /^[A-Za-z_][\w-]{0,62}$/.test(indexName)) return indexName
  throw new TypeError(
    'An index name must have 1 to 63 letters, digits, _ and -, and begin with a letter or _.',
  )
}

/** The parts of `upsert`, checked, with ids for vectors that have none. */
export function toRows({ vectors, metadata, ids }: UpsertParams, dimension?: number): UpsertRow[] {
  for (const [name, list] of Object.entries({ metadata, ids }))
    if (list !== undefined && list.length !== vectors.length)
      throw new TypeError(`upsert has ${vectors.length} vectors, but ${list.length} ${name}.`)
  return vectors.map((vector, index) => {
    checkVector(vector, dimension ?? vector.length)
    return { id: ids?.[index] ?? crypto.randomUUID(), vector, metadata: metadata?.[index] ?? {} }
  })
}

export interface UpsertRow {
  readonly id: string
  readonly vector: readonly number[]
  readonly metadata: Record<string, unknown>
}

/**
 * @throws VectorStoreError for another dimension, for members that are not finite numbers, and for a vector that is longer than 32-bit
 * floats can say: it would be infinitely near to everything.
 */
export function checkVector(vector: readonly number[], dimension: number): void {
  if (vector.length !== dimension)
    throw new VectorStoreError(
      'WRONG_DIMENSION',
      `The index has ${dimension} dimensions, but the vector has ${vector.length}: use the embedding model that filled the index.`,
    )
  let sum = 0
  for (const value of vector) sum += Number.isFinite(value) ? value * value : Number.NaN
  if (!Number.isFinite(Math.fround(Math.sqrt(sum))))
    throw new VectorStoreError('WRONG_DIMENSION', 'A vector has a value that is not a number, or too large.')
}

/** @throws TypeError for anything but a whole number from 1. */
export function checkTopK(topK: number | undefined): number {
  if (topK === undefined) return 10
  if (Number.isInteger(topK) && topK > 0) return topK
  throw new TypeError('"topK" must be a whole number above 0.')
}

export function conditionOf({ filter }: QueryParams): Condition | undefined {
  return parseFilter(filter)
}

/** The error for an operator that a store does not support. */
export function unsupported(store: string, operator: string): VectorStoreError {
  return new VectorStoreError('UNSUPPORTED_FILTER', `${store} cannot filter by ${operator}.`)
}

/** The text of a chunk: in its metadata, or separate. */
export function textOf(result: Pick<QueryResult, 'metadata' | 'document'>): string {
  const text = result.metadata?.text
  return typeof text === 'string' ? text : (result.document ?? '')
}

/** Converts a distance to a similarity; higher is more similar. */
export function scoreOf(metric: Metric, distance: number): number {
  if (metric === 'cosine') return 1 - distance
  return metric === 'euclidean' ? 1 / (1 + distance) : -distance
}
