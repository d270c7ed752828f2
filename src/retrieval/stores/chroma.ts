/**
 * Chroma, by its HTTP API (version 2).
 */
import { type Names, refuseUnknown } from '../../definition/unknown-option.ts'
import { checkedStore, QUERY_OPTIONS } from '../checked-store.ts'
import type { Condition, Scalar } from '../filter.ts'
import {
  checkIndexName,
  checkTopK,
  checkVector,
  conditionOf,
  type Metric,
  type QueryParams,
  scoreOf,
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
  toBase,
  withMinScore,
} from './http.ts'
import { type MongoDialect, toMongoFilter } from './mongo-filter.ts'

export interface ChromaOptions extends HttpStoreOptions {
  /** Default `http://localhost:8000`. */
  readonly url?: string
  /** Sent as `x-chroma-token`. */
  readonly apiKey?: string
  /** Default `default_tenant`. */
  readonly tenant?: string
  /** Default `default_database`. */
  readonly database?: string
}

export interface ChromaQueryParams extends QueryParams {
  /** In Chroma's own format; combined with `filter` by `and`. */
  readonly where?: object
  readonly whereDocument?: object
  readonly minScore?: number
}

interface Collection {
  readonly id: string
  readonly dimension?: number | null
  readonly configuration_json?: {
    readonly hnsw?: { readonly space?: string } | null
    readonly spann?: { readonly space?: string } | null
  }
}

interface Found {
  readonly ids: string[][]
  readonly distances?: (number | null)[][] | null
  readonly metadatas?: (Record<string, unknown> | null)[][] | null
  readonly documents?: (string | null)[][] | null
  readonly embeddings?: (number[] | null)[][] | null
}

const SPACES: { readonly [metric in Metric]: string } = {
  cosine: 'cosine',
  euclidean: 'l2',
  dotproduct: 'ip',
}

const DIALECT: MongoDialect = {
  store: 'Chroma',
  operators: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains', 'and', 'or'],
  ordersTexts: false,
  refuse: (condition) =>
    'values' in condition && condition.values.length === 0
      ? `$${condition.op} with an empty list`
      : undefined,
}

const ROWS_AT_ONCE = 100
const LIST_ROWS = 1000

const OPTIONS: Names<ChromaOptions> = {
  url: 'string',
  apiKey: 'string',
  tenant: 'string',
  database: 'string',
  timeoutMs: [0],
}
const QUERY: Names<ChromaQueryParams> = {
  ...QUERY_OPTIONS,
  where: 'object',
  whereDocument: 'object',
  minScore: [-Infinity],
}

/**
 * Creates a store on Chroma. Metadata must be flat; the text in `metadata.text` is also the document that `whereDocument` searches.
 *
 * ```ts
 * const store = chromaVector({ url: 'http://localhost:8000' })
 * ```
 */
export function chromaVector(options: ChromaOptions = {}): VectorStore {
  refuseUnknown('chromaVector', options, OPTIONS)
  const {
    url = 'http://localhost:8000',
    apiKey,
    tenant = 'default_tenant',
    database = 'default_database',
  } = options
  const path = `/api/v2/tenants/${encodeURIComponent(tenant)}/databases/${encodeURIComponent(database)}/collections`
  const base = `${toBase('chromaVector', url)}${path}`
  const call = createCall('Chroma', apiKey === undefined ? {} : { 'x-chroma-token': apiKey }, options)
  const known = new Map<string, Collection>()

  const find = async (indexName: string): Promise<Collection> => {
    const name = checkIndexName(indexName)
    const found = known.get(name)
    if (found !== undefined) return found
    const collection = await call<Collection>(`${base}/${name}`, { method: 'GET' }).catch(
      (error: unknown) => {
        throw isMissing(error) ? noIndex('Chroma', name) : error
      },
    )
    // It has no dimension until it contains a vector.
    if (typeof collection.dimension === 'number') known.set(name, collection)
    return collection
  }
  const ask = async <Body>(indexName: string, command: string, body: unknown): Promise<Body> => {
    const { id } = await find(indexName)
    return call<Body>(`${base}/${id}/${command}`, { body }).catch((error: unknown) => {
      // It was deleted, and perhaps created again with another id.
      if (isMissing(error)) known.delete(indexName)
      throw isMissing(error) ? noIndex('Chroma', indexName) : error
    })
  }

  const store: VectorStore = {
    async createIndex({ indexName, dimension, metric = 'cosine' }) {
      const body = {
        name: checkIndexName(indexName),
        get_or_create: true,
        configuration: { hnsw: { space: SPACES[metric] } },
      }
      const { dimension: given } = await call<Collection>(base, { body })
      if (typeof given === 'number' && given !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" exists with ${given} dimensions.`,
        )
    },
    async upsert(params) {
      const { dimension } = await find(params.indexName)
      const rows = toRows(params, dimension ?? undefined)
      for (const part of inParts(rows, ROWS_AT_ONCE))
        await ask(params.indexName, 'upsert', {
          ids: part.map(({ id }) => id),
          embeddings: part.map(({ vector }) => vector),
          metadatas: part.map(({ metadata }) => metadata),
          documents: part.map(({ metadata }) => (typeof metadata.text === 'string' ? metadata.text : null)),
        })
      return rows.map(({ id }) => id)
    },
    async query(params: ChromaQueryParams) {
      const { indexName, queryVector, where, whereDocument, minScore, includeVector = false } = params
      checkVector(queryVector, queryVector.length)
      const { dimension } = await find(indexName)
      if (typeof dimension === 'number') checkVector(queryVector, dimension)
      const condition = conditionOf(params)
      const all = [where, condition && toMongoFilter(withListsOfOneType(condition), DIALECT)].filter(
        (one) => one !== undefined,
      )
      const found = await ask<Found>(indexName, 'query', {
        query_embeddings: [queryVector],
        n_results: checkTopK(params.topK),
        include: ['metadatas', 'documents', 'distances', ...(includeVector ? ['embeddings'] : [])],
        ...(all.length > 0 && { where: all.length === 1 ? all[0] : { $and: all } }),
        ...(whereDocument !== undefined && { where_document: whereDocument }),
      })
      const results = toResults(found, metricOf(await find(indexName)))
      return withMinScore(results, minScore)
    },
    async deleteVector({ indexName, id }) {
      await this.deleteVectors({ indexName, ids: [id] })
    },
    async deleteVectors({ indexName, ids }) {
      for (const part of inParts(ids, ROWS_AT_ONCE)) await ask(indexName, 'delete', { ids: part })
    },
    async describeIndex({ indexName }) {
      const collection = await find(indexName)
      const count = await call<number>(`${base}/${collection.id}/count`, { method: 'GET' })
      return { dimension: collection.dimension ?? 0, count, metric: metricOf(collection) }
    },
    async listIds({ indexName, prefix }) {
      const ids: string[] = []
      for (let offset = 0; ; offset += LIST_ROWS) {
        const page = await ask<{ ids: string[] }>(indexName, 'get', { limit: LIST_ROWS, offset, include: [] })
        ids.push(...page.ids)
        if (page.ids.length < LIST_ROWS) return ids.filter((id) => id.startsWith(prefix))
      }
    },
  }
  return checkedStore('chromaVector', store, QUERY)
}

/** Chroma's lists have values of one type, and integers and fractions are different types. */
function withListsOfOneType(condition: Condition): Condition {
  if (condition.op === 'and' || condition.op === 'or')
    return { ...condition, all: condition.all.map(withListsOfOneType) }
  if (condition.op !== 'in' && condition.op !== 'nin') return condition
  const lists = new Map<string, Scalar[]>()
  for (const value of condition.values) {
    const type = Number.isInteger(value) ? 'integer' : typeof value
    lists.set(type, [...(lists.get(type) ?? []), value])
  }
  if (lists.size < 2) return condition
  const all = Array.from(lists.values(), (values) => ({ ...condition, values }))
  return { op: condition.op === 'in' ? 'or' : 'and', all }
}

function metricOf({ configuration_json: { hnsw, spann } = {} }: Collection): Metric {
  const space = hnsw?.space ?? spann?.space ?? SPACES.euclidean
  return (Object.keys(SPACES) as Metric[]).find((metric) => SPACES[metric] === space) ?? 'euclidean'
}

function toResults({ ids, distances, metadatas, documents, embeddings }: Found, metric: Metric) {
  return (ids[0] ?? []).map((id, at) => {
    const distance = distances?.[0]?.[at] ?? 0
    const text = documents?.[0]?.[at]
    const vector = embeddings?.[0]?.[at]
    return {
      id,
      // `l2` is the square of the distance, `ip` is 1 minus the product.
      score:
        metric === 'dotproduct'
          ? 1 - distance
          : scoreOf(metric, metric === 'euclidean' ? Math.sqrt(distance) : distance),
      metadata: metadatas?.[0]?.[at] ?? {},
      ...(typeof text === 'string' && { document: text }),
      ...(Array.isArray(vector) && { vector }),
    }
  })
}
