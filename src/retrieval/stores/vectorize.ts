/**
 * Vectorize, by its bindings: one for each index.
 */
import type { Names } from '../../definition/unknown-option.ts'
import { bytesOver, utf8Length } from '../../definition/utf8.ts'
import { checkedStore, QUERY_OPTIONS } from '../checked-store.ts'
import type { Condition, Leaf, Scalar } from '../filter.ts'
import {
  checkIndexName,
  checkTopK,
  checkVector,
  conditionOf,
  type QueryParams,
  toRows,
  unsupported,
  type VectorStore,
  VectorStoreError,
} from '../store.ts'
import { inParts, withMinScore } from './http.ts'

/** A binding of a Vectorize index. */
export interface VectorizeBinding {
  query(
    vector: number[],
    options: { topK: number; returnValues: boolean; returnMetadata: 'all'; filter?: never },
  ): PromiseLike<{ matches: readonly VectorizeMatch[] }>
  upsert(vectors: { id: string; values: number[]; metadata: never }[]): PromiseLike<unknown>
  deleteByIds(ids: string[]): PromiseLike<unknown>
  describe(): PromiseLike<object>
}

interface VectorizeMatch {
  readonly id: string
  readonly score: number
  readonly values?: ArrayLike<number>
  readonly metadata?: object
}

export interface VectorizeQueryParams extends QueryParams {
  readonly minScore?: number
}

/** The limits of one call and its result, from the documentation of November 2026. */
const MAX_TOP_K = 20
const UPSERT_ROWS = 1000
const DELETE_IDS = 100
const MAX_FILTER_BYTES = 2048
/** Longer strings are indexed only by their beginning. */
const MAX_TEXT_BYTES = 64

const QUERY: Names<VectorizeQueryParams> = { ...QUERY_OPTIONS, minScore: [-Infinity] }

/**
 * Creates a store on Vectorize: the bindings of its indexes by name. At most 20 results per query. Fields that filters use need a
 * metadata index, which must exist before the vectors.
 *
 * ```ts
 * const store = vectorizeVector({ docs: env.DOCS_INDEX })
 * ```
 */
export function vectorizeVector(bindings: {
  readonly [indexName: string]: VectorizeBinding
}): Omit<VectorStore, 'listIds'> {
  if (typeof bindings !== 'object' || bindings === null)
    throw new TypeError('vectorizeVector needs the bindings of indexes by name: { docs: env.DOCS }.')
  const find = (indexName: string): VectorizeBinding => {
    const binding = Object.hasOwn(bindings, checkIndexName(indexName)) ? bindings[indexName] : undefined
    if (typeof binding?.query === 'function') return binding
    throw new VectorStoreError(
      'NO_INDEX',
      `The index "${indexName}" has no binding: add it to vectorizeVector.`,
    )
  }
  const describe = async (indexName: string) => {
    // `vectorsCount` and `config` are those of the first version of Vectorize.
    const stats = (await find(indexName).describe()) as {
      dimensions?: number
      vectorCount?: number
      vectorsCount?: number
      config?: { dimensions?: number }
      processedUpToMutation?: unknown
    }
    const { dimensions = stats.config?.dimensions ?? 0, vectorCount = stats.vectorsCount ?? 0 } = stats
    return { dimension: dimensions, count: vectorCount, version: stats.processedUpToMutation }
  }

  const store: Omit<VectorStore, 'listIds'> = {
    maxTopK: MAX_TOP_K,
    async createIndex({ indexName, dimension }) {
      const { dimension: given } = await describe(indexName)
      if (given !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" has ${given} dimensions: create one with ${dimension}.`,
        )
    },
    async upsert(params) {
      const binding = find(params.indexName)
      const rows = toRows(params)
      const vectors = rows.map(({ id, vector, metadata }) => ({
        id,
        values: [...vector],
        metadata: metadata as never,
      }))
      for (const part of inParts(vectors, UPSERT_ROWS)) await binding.upsert(part)
      return rows.map(({ id }) => id)
    },
    async query(params: VectorizeQueryParams) {
      const { indexName, queryVector, includeVector = false, minScore } = params
      checkVector(queryVector, queryVector.length)
      const condition = conditionOf(params)
      const { matches } = await find(indexName).query([...queryVector], {
        topK: Math.min(MAX_TOP_K, checkTopK(params.topK)),
        returnValues: includeVector,
        returnMetadata: 'all',
        ...(condition !== undefined && { filter: toVectorizeFilter(condition) as never }),
      })
      const results = matches.map(({ id, score, values, metadata = {} }) => ({
        id,
        score,
        metadata: metadata as Record<string, unknown>,
        ...(includeVector && values !== undefined && { vector: Array.from(values) }),
      }))
      return withMinScore(results, minScore)
    },
    async deleteVector({ indexName, id }) {
      await find(indexName).deleteByIds([id])
    },
    async deleteVectors({ indexName, ids }) {
      for (const part of inParts(ids, DELETE_IDS)) await find(indexName).deleteByIds(part)
    },
    async describeIndex({ indexName }) {
      const { dimension, count } = await describe(indexName)
      return { dimension, count }
    },
    async indexVersion({ indexName }) {
      const { count, version } = await describe(indexName)
      return `${count}.${String(version)}`
    },
  }
  return checkedStore('vectorizeVector', store, QUERY)
}

/**
 * One object, whose members must all be met.
 *
 * @throws VectorStoreError naming an unsupported part. Two conditions on one field are never merged.
 */
function toVectorizeFilter(condition: Condition): object {
  const fields = new Map<string, Record<string, unknown>>()
  for (const leaf of flatten(condition)) {
    if (leaf.op === 'exists' || leaf.op === 'contains') throw unsupported('Vectorize', `$${leaf.op}`)
    if (!/^[^".$][^"]*$/.test(leaf.field))
      throw unsupported('Vectorize', 'a field with a quote, or a dot or $ at its start')
    const values = 'values' in leaf ? leaf.values : [leaf.value]
    values.forEach(checkText)
    const given = fields.get(leaf.field) ?? {}
    const range = /^[gl]te?$/
    const isRange =
      range.test(leaf.op) &&
      Object.keys(given).every((one) => range.test(one.slice(1)) && one[1] !== leaf.op[0])
    if (Object.keys(given).length > 0 && !isRange)
      throw unsupported('Vectorize', `two conditions on "${leaf.field}", except a range`)
    fields.set(leaf.field, { ...given, [`$${leaf.op}`]: 'values' in leaf ? leaf.values : leaf.value })
  }
  const filter = Object.fromEntries(fields)
  if (utf8Length(JSON.stringify(filter)) >= MAX_FILTER_BYTES)
    throw unsupported('Vectorize', `more than ${MAX_FILTER_BYTES} bytes`)
  return filter
}

function flatten(condition: Condition): Leaf[] {
  if (condition.op === 'and') return condition.all.flatMap(flatten)
  if (condition.op === 'or' || condition.op === 'not') throw unsupported('Vectorize', `$${condition.op}`)
  return [condition]
}

function checkText(value: Scalar): void {
  if (typeof value === 'string' && bytesOver(value, MAX_TEXT_BYTES) !== undefined)
    throw unsupported('Vectorize', `a string of more than ${MAX_TEXT_BYTES} bytes`)
}
