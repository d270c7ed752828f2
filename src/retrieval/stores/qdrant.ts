/** Qdrant, by its HTTP API. Qdrant's ids are UUIDs, so ours are hashed to UUIDs and stored in the payload. */

import { sha256 } from '../../definition/digest.ts'
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
import {
  createCall,
  type HttpStoreOptions,
  inParts,
  isMissing,
  noIndex,
  orNoIndex,
  toBase,
  withMinScore,
} from './http.ts'
import { toQdrantFilter } from './qdrant-filter.ts'

export interface QdrantOptions extends HttpStoreOptions {
  /** Such as `https://xyz.cloud.qdrant.io:6333`. */
  readonly url: string
  readonly apiKey?: string
}

export interface QdrantQueryParams extends QueryParams {
  readonly minScore?: number
  /** Candidates of the `hnsw` index. */
  readonly ef?: number
  /** Compares every point, without an index. Default false. */
  readonly exact?: boolean
}

interface Collection {
  readonly points_count?: number | null
  readonly config: {
    readonly params: { readonly vectors: { readonly size: number; readonly distance: string } }
  }
}

interface Point {
  readonly id: string | number
  readonly score: number
  readonly payload?: Record<string, unknown> | null
  readonly vector?: number[] | null
}

const DISTANCES: { readonly [metric in Metric]: string } = {
  cosine: 'Cosine',
  euclidean: 'Euclid',
  dotproduct: 'Dot',
}
/** The member of the payload that has our id. */
const ID = '_mayfly_id'
const UPSERT_ROWS = 100
const LIST_ROWS = 1000

const OPTIONS: Names<QdrantOptions> = { url: 'string', apiKey: 'string', timeoutMs: [0] }
const QUERY: Names<QdrantQueryParams> = { ...QUERY_OPTIONS, minScore: [-Infinity], ef: [1], exact: 'boolean' }

/**
 * Creates a store on Qdrant.
 *
 * ```ts
 * const store = qdrantVector({ url: env.QDRANT_URL, apiKey: env.QDRANT_API_KEY })
 * ```
 */
export function qdrantVector(options: QdrantOptions): VectorStore {
  requireOptions('qdrantVector', options, OPTIONS)
  const base = toBase('qdrantVector', options.url)
  const { apiKey } = options
  const call = createCall('Qdrant', apiKey === undefined ? {} : { 'api-key': apiKey }, options)
  const ask = async <Result>(
    indexName: string,
    path: string,
    method: 'GET' | 'POST' | 'PUT',
    body?: unknown,
  ): Promise<Result> => {
    const url = `${base}/collections/${checkIndexName(indexName)}${path}`
    try {
      const { result } = await call<{ result: Result }>(url, { method, ...(body !== undefined && { body }) })
      return result
    } catch (error) {
      throw isMissing(error) ? noIndex('Qdrant', indexName) : error
    }
  }
  const describe = async (indexName: string) => {
    const { points_count: count, config } = await ask<Collection>(indexName, '', 'GET')
    const { size: dimension, distance } = config.params.vectors
    const metric = (Object.keys(DISTANCES) as Metric[]).find((one) => DISTANCES[one] === distance)
    return { dimension, count: count ?? 0, ...(metric && { metric }) }
  }
  const metrics = new Map<string, Metric | undefined>()
  const metricOf = async (indexName: string): Promise<Metric | undefined> => {
    if (!metrics.has(indexName)) metrics.set(indexName, (await describe(indexName)).metric)
    return metrics.get(indexName)
  }

  const store: VectorStore = {
    hasExactQuery: true,
    async createIndex({ indexName, dimension, metric = 'cosine' }) {
      const existing = await describe(indexName).catch(orNoIndex)
      if (existing === undefined)
        await ask(indexName, '', 'PUT', { vectors: { size: dimension, distance: DISTANCES[metric] } })
      else if (existing.dimension !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" exists with ${existing.dimension} dimensions.`,
        )
    },
    async upsert(params) {
      const rows = toRows(params)
      for (const part of inParts(rows, UPSERT_ROWS)) {
        const points = await Promise.all(
          part.map(async ({ id, vector, metadata }) => ({
            id: await toUuid(id),
            vector,
            payload: { ...metadata, [ID]: id },
          })),
        )
        await ask(params.indexName, '/points?wait=true', 'PUT', { points })
      }
      return rows.map(({ id }) => id)
    },
    async query(params: QdrantQueryParams) {
      const { indexName, queryVector, includeVector = false, minScore, ef, exact } = params
      checkVector(queryVector, queryVector.length)
      const condition = conditionOf(params)
      const { points } = await ask<{ points: Point[] }>(indexName, '/points/query', 'POST', {
        query: queryVector,
        limit: checkTopK(params.topK),
        with_payload: true,
        with_vector: includeVector,
        ...((ef !== undefined || exact === true) && {
          params: { ...(ef !== undefined && { hnsw_ef: ef }), ...(exact === true && { exact }) },
        }),
        ...(condition !== undefined && { filter: toQdrantFilter(condition) }),
      })
      const isDistance = (await metricOf(indexName)) === 'euclidean'
      const results = points.map(({ id, score, payload, vector }) => {
        const { [ID]: own, ...metadata } = payload ?? {}
        return {
          id: String(own ?? id),
          score: isDistance ? 1 / (1 + score) : score,
          metadata,
          ...(includeVector && Array.isArray(vector) && { vector }),
        }
      })
      return withMinScore(results, minScore)
    },
    async deleteVector({ indexName, id }) {
      await this.deleteVectors({ indexName, ids: [id] })
    },
    async deleteVectors({ indexName, ids }) {
      for (const part of inParts(ids, LIST_ROWS)) {
        const points = await Promise.all(part.map(toUuid))
        await ask(indexName, '/points/delete?wait=true', 'POST', { points })
      }
    },
    describeIndex: ({ indexName }) => describe(indexName),
    async listIds({ indexName, prefix }) {
      const ids: string[] = []
      for (let offset: unknown = null; offset !== undefined; ) {
        const page: { points: Omit<Point, 'score'>[]; next_page_offset?: unknown } = await ask(
          indexName,
          '/points/scroll',
          'POST',
          {
            limit: LIST_ROWS,
            with_payload: [ID],
            ...(offset !== null && { offset }),
          },
        )
        ids.push(...page.points.map(({ id, payload }) => String(payload?.[ID] ?? id)))
        offset = page.next_page_offset ?? undefined
      }
      return ids.filter((id) => id.startsWith(prefix))
    },
  }
  return checkedStore('qdrantVector', store, QUERY)
}

/** A deterministic UUID of an id: version 8 of RFC 9562, for custom hashes. An id that is a UUID is unchanged. */
async function toUuid(id: string): Promise<string> {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) return id
  const hash = await sha256(id)
  hash[6] = (hash[6]! & 0x0f) | 0x80
  hash[8] = (hash[8]! & 0x3f) | 0x80
  const hex = Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
