/** Upstash Vector, by its HTTP API. Our indexes are namespaces of the index at the URL, as in Mastra's UpstashVector. */
import { type Names, requireOptions } from '../../definition/unknown-option.ts'
import { checkedStore, QUERY_OPTIONS } from '../checked-store.ts'
import {
  checkIndexName,
  checkTopK,
  checkVector,
  conditionOf,
  type Metric,
  type QueryParams,
  toRows,
  type VectorStore,
  VectorStoreError,
} from '../store.ts'
import { createCall, type HttpStoreOptions, inParts, requireText, toBase, withMinScore } from './http.ts'
import { toUpstashFilter } from './upstash-filter.ts'

export interface UpstashOptions extends HttpStoreOptions {
  /** `UPSTASH_VECTOR_REST_URL`. */
  readonly url: string
  /** `UPSTASH_VECTOR_REST_TOKEN`. */
  readonly token: string
}

export interface UpstashQueryParams extends QueryParams {
  readonly minScore?: number
}

interface Info {
  readonly dimension: number
  readonly similarityFunction: string
  readonly namespaces: { readonly [name: string]: { readonly vectorCount: number } }
}

interface Found {
  readonly id: string
  readonly score: number
  readonly vector?: number[]
  readonly metadata?: Record<string, unknown>
  readonly data?: string
}

const METRICS: { readonly [name: string]: Metric } = {
  COSINE: 'cosine',
  EUCLIDEAN: 'euclidean',
  DOT_PRODUCT: 'dotproduct',
}

/** The limit of one call. */
const UPSERT_ROWS = 100
const LIST_ROWS = 1000

const OPTIONS: Names<UpstashOptions> = { url: 'string', token: 'string', timeoutMs: [0] }
const QUERY: Names<UpstashQueryParams> = { ...QUERY_OPTIONS, minScore: [-Infinity] }

/**
 * Creates a store on Upstash Vector. The index at the URL must exist; its scores are from 0 to 1, also for `cosine`.
 *
 * ```ts
 * const store = upstashVector({ url: env.UPSTASH_VECTOR_REST_URL, token: env.UPSTASH_VECTOR_REST_TOKEN })
 * ```
 */
export function upstashVector(options: UpstashOptions): VectorStore {
  requireOptions('upstashVector', options, OPTIONS)
  requireText('upstashVector', { url: options.url, token: options.token })
  const base = toBase('upstashVector', options.url)
  const call = createCall('Upstash', { authorization: `Bearer ${options.token}` }, options)
  const ask = async <Result>(command: string, indexName: string, body: unknown): Promise<Result> => {
    const { result } = await call<{ result: Result }>(`${base}/${command}/${checkIndexName(indexName)}`, {
      body,
    })
    return result
  }
  const info = async (): Promise<Info> =>
    (await call<{ result: Info }>(`${base}/info`, { method: 'GET' })).result

  const store: VectorStore = {
    maxTopK: 1000,
    async createIndex({ indexName, dimension, metric = 'cosine' }) {
      checkIndexName(indexName)
      const { dimension: given, similarityFunction } = await info()
      if (given === dimension && METRICS[similarityFunction] === metric) return
      throw new VectorStoreError(
        'WRONG_DIMENSION',
        `The index at Upstash has ${given} dimensions and compares by ${similarityFunction}: create one with ${dimension} and "${metric}".`,
      )
    },
    async upsert(params) {
      const rows = toRows(params)
      for (const part of inParts(rows, UPSERT_ROWS)) await ask('upsert', params.indexName, part)
      return rows.map(({ id }) => id)
    },
    async query(params: UpstashQueryParams) {
      const { indexName, queryVector, includeVector = false, minScore } = params
      checkVector(queryVector, queryVector.length)
      const condition = conditionOf(params)
      const found = await ask<Found[]>('query', indexName, {
        vector: queryVector,
        topK: checkTopK(params.topK),
        includeMetadata: true,
        includeVectors: includeVector,
        includeData: true,
        ...(condition !== undefined && { filter: toUpstashFilter(condition) }),
      })
      const results = found.map(({ id, score, vector, metadata = {}, data }) => ({
        id: String(id),
        score,
        metadata,
        ...(data !== undefined && { document: data }),
        ...(includeVector && vector !== undefined && { vector }),
      }))
      return withMinScore(results, minScore)
    },
    async deleteVector({ indexName, id }) {
      await this.deleteVectors({ indexName, ids: [id] })
    },
    async deleteVectors({ indexName, ids }) {
      for (const part of inParts(ids, LIST_ROWS)) await ask('delete', indexName, { ids: part })
    },
    async describeIndex({ indexName }) {
      const { dimension, similarityFunction, namespaces } = await info()
      const metric = METRICS[similarityFunction]
      return {
        dimension,
        count: namespaces[checkIndexName(indexName)]?.vectorCount ?? 0,
        ...(metric && { metric }),
      }
    },
    async listIds({ indexName, prefix }) {
      const ids: string[] = []
      for (let cursor: string | undefined = '0'; cursor !== undefined && cursor !== ''; ) {
        const page: { nextCursor?: string; vectors: { id: string }[] } = await ask('range', indexName, {
          cursor,
          limit: LIST_ROWS,
          prefix,
        })
        ids.push(...page.vectors.map(({ id }) => String(id)))
        cursor = page.nextCursor
      }
      return ids
    },
  }
  return checkedStore('upstashVector', store, QUERY)
}
