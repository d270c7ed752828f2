/**
 * Pinecone, by its HTTP API (version 2025-10).
 */
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
  requireText,
  toBase,
  withMinScore,
} from './http.ts'
import { type MongoDialect, toMongoFilter } from './mongo-filter.ts'

export interface PineconeOptions extends HttpStoreOptions {
  readonly apiKey: string
  /** The namespace of a query without its own. */
  readonly namespace?: string
  /** Where `createIndex` creates one, such as `{ cloud: 'gcp', region: 'europe-west4' }`. */
  readonly serverless?: { readonly cloud: string; readonly region: string }
  /** Of the API that manages indexes. Default `https://api.pinecone.io`. */
  readonly url?: string
}

export interface PineconeQueryParams extends QueryParams {
  readonly namespace?: string
  /** For a hybrid search. */
  readonly sparseVector?: { readonly indices: readonly number[]; readonly values: readonly number[] }
  readonly minScore?: number
}

interface Described {
  readonly host: string
  readonly dimension: number
  readonly metric: Metric
  readonly status: { readonly ready: boolean }
}

interface Match {
  readonly id: string
  readonly score: number
  readonly values?: number[]
  readonly metadata?: Record<string, unknown>
}

const DIALECT: MongoDialect = {
  store: 'Pinecone',
  operators: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'exists', 'and', 'or'],
  ordersTexts: false,
}

/** The limit of one call. */
const UPSERT_ROWS = 100
const DELETE_ROWS = 1000
const READY_ATTEMPTS = 60

const OPTIONS: Names<PineconeOptions> = {
  apiKey: 'string',
  namespace: 'string',
  serverless: 'object',
  url: 'string',
  timeoutMs: [0],
}
const QUERY: Names<PineconeQueryParams> = {
  ...QUERY_OPTIONS,
  namespace: 'string',
  sparseVector: 'object',
  minScore: [-Infinity],
}

/**
 * Creates a store on Pinecone. Metadata must be flat: strings, numbers, booleans and lists of strings.
 *
 * ```ts
 * const store = pineconeVector({ apiKey: env.PINECONE_API_KEY })
 * ```
 */
export function pineconeVector(options: PineconeOptions): VectorStore {
  requireOptions('pineconeVector', options, OPTIONS)
  requireText('pineconeVector', { apiKey: options.apiKey })
  const { apiKey, namespace, serverless } = options
  const api = toBase('pineconeVector', options.url ?? 'https://api.pinecone.io')
  const call = createCall('Pinecone', { 'api-key': apiKey, 'x-pinecone-api-version': '2025-10' }, options)
  const known = new Map<string, Described>()

  const describe = async (indexName: string): Promise<Described> => {
    const name = checkIndexName(indexName)
    const found = known.get(name)
    if (found !== undefined) return found
    const described = await call<Described>(`${api}/indexes/${name}`, { method: 'GET' }).catch(
      (error: unknown) => {
        throw isMissing(error) ? noIndex('Pinecone', name) : error
      },
    )
    if (described.status.ready) known.set(name, described)
    return described
  }
  const at = async (indexName: string): Promise<string> => {
    const { host } = await describe(indexName)
    return host.includes('://') ? toBase('pineconeVector', host) : `https://${host}`
  }
  const inNamespace = namespace !== undefined && { namespace }

  const store: VectorStore = {
    maxTopK: 10_000,
    async createIndex({ indexName, dimension, metric = 'cosine' }) {
      const existing = await describe(indexName).catch(orNoIndex)
      if (existing === undefined) {
        if (serverless === undefined)
          throw new TypeError('pineconeVector needs "serverless" to create an index: { cloud, region }.')
        await call(`${api}/indexes`, { body: { name: indexName, dimension, metric, spec: { serverless } } })
        await untilReady(describe, indexName)
      } else if (existing.dimension !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" exists with ${existing.dimension} dimensions.`,
        )
    },
    async upsert(params) {
      const { dimension } = await describe(params.indexName)
      const rows = toRows(params, dimension)
      const vectors = rows.map(({ id, vector, metadata }) => ({ id, values: vector, metadata }))
      const host = await at(params.indexName)
      for (const part of inParts(vectors, UPSERT_ROWS))
        await call(`${host}/vectors/upsert`, { body: { vectors: part, ...inNamespace } })
      return rows.map(({ id }) => id)
    },
    async query(params: PineconeQueryParams) {
      const { dimension, metric } = await describe(params.indexName)
      checkVector(params.queryVector, dimension)
      const condition = conditionOf(params)
      const body = {
        vector: params.queryVector,
        topK: checkTopK(params.topK),
        includeValues: params.includeVector ?? false,
        includeMetadata: true,
        ...inNamespace,
        ...(params.namespace !== undefined && { namespace: params.namespace }),
        ...(params.sparseVector !== undefined && { sparseVector: params.sparseVector }),
        ...(condition !== undefined && { filter: toMongoFilter(condition, DIALECT) }),
      }
      const { matches } = await call<{ matches: Match[] }>(`${await at(params.indexName)}/query`, { body })
      const results = matches.map(({ id, score, metadata = {}, values }) => ({
        id,
        // For this metric it returns a distance.
        score: metric === 'euclidean' ? 1 / (1 + score) : score,
        metadata,
        ...(params.includeVector === true && values !== undefined && { vector: values }),
      }))
      return withMinScore(results, params.minScore)
    },
    async deleteVector({ indexName, id }) {
      await this.deleteVectors({ indexName, ids: [id] })
    },
    async deleteVectors({ indexName, ids }) {
      const host = await at(indexName)
      for (const part of inParts(ids, DELETE_ROWS))
        await call(`${host}/vectors/delete`, { body: { ids: part, ...inNamespace } })
    },
    async describeIndex({ indexName }) {
      const { dimension, metric } = await describe(indexName)
      const { namespaces = {}, totalVectorCount = 0 } = await call<{
        namespaces?: { [name: string]: { vectorCount: number } }
        totalVectorCount?: number
      }>(`${await at(indexName)}/describe_index_stats`, { body: {} })
      const count = namespace === undefined ? totalVectorCount : (namespaces[namespace]?.vectorCount ?? 0)
      return { dimension, metric, count }
    },
    async listIds({ indexName, prefix }) {
      const ids: string[] = []
      const host = await at(indexName)
      for (let token: string | undefined = ''; token !== undefined; ) {
        const query = new URLSearchParams({
          prefix,
          limit: '100',
          ...inNamespace,
          ...(token !== '' && { paginationToken: token }),
        })
        const page: { vectors?: { id: string }[]; pagination?: { next?: string } } = await call(
          `${host}/vectors/list?${query}`,
          { method: 'GET' },
        )
        ids.push(...(page.vectors ?? []).map(({ id }) => id))
        token = page.pagination?.next
      }
      return ids
    },
  }
  return checkedStore('pineconeVector', store, QUERY)
}

async function untilReady(
  describe: (indexName: string) => Promise<Described>,
  indexName: string,
): Promise<void> {
  for (let attempt = 0; attempt < READY_ATTEMPTS; attempt++) {
    if ((await describe(indexName)).status.ready) return
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  throw new VectorStoreError(
    'STORE_FAILED',
    `Pinecone’s new index "${indexName}" is not ready after a minute.`,
  )
}
