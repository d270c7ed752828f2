/**
 * A store in memory: exact search over one `Float32Array` per index. It can be saved as JSON and restored, so that a server can have a
 * small index in its bundle.
 */
import type { Names } from '../definition/unknown-option.ts'
import { checkedStore, QUERY_OPTIONS } from './checked-store.ts'
import type { Condition } from './filter.ts'
import { type Metadata, matches } from './matches.ts'
import { distances, lengthOf, products, toUnit } from './similarity.ts'
import {
  checkIndexName,
  checkTopK,
  checkVector,
  conditionOf,
  type Metric,
  type QueryParams,
  type QueryResult,
  toRows,
  type UpsertRow,
  type VectorStore,
  VectorStoreError,
} from './store.ts'
import { TopRows } from './top-rows.ts'

/** A store as JSON. */
export interface MemorySnapshot {
  readonly version: 1
  readonly indexes: { readonly [indexName: string]: IndexSnapshot }
}

interface IndexSnapshot {
  readonly dimension: number
  readonly metric: Metric
  readonly ids: readonly string[]
  readonly metadata: readonly Metadata[]
  /** Base64 of 32-bit floats, little-endian: row after row, with `cosine` of length 1. */
  readonly vectors: string
  /** The original length of each vector. */
  readonly lengths: string
}

interface MemoryQueryParams extends QueryParams {
  readonly minScore?: number
}

const QUERY: Names<MemoryQueryParams> = { ...QUERY_OPTIONS, minScore: [-Infinity] }

/** A store in memory, which can also be saved. */
export interface MemoryVectorStore extends VectorStore {
  /** This store as JSON, for `createMemoryVectorStore(snapshot)`. */
  snapshot(): MemorySnapshot
}

/**
 * Creates a store in memory. Search is exact: every vector is compared. It exists as long as its process or isolate. With a `snapshot`, it
 * starts with the saved indexes and decodes the vectors at the first use of each index.
 *
 * @throws TypeError for a snapshot of another version.
 *
 * ```ts
 * const store = createMemoryVectorStore()
 * ```
 */
export function createMemoryVectorStore(snapshot?: MemorySnapshot): MemoryVectorStore {
  if (snapshot !== undefined && snapshot?.version !== 1)
    throw new TypeError('The snapshot is not one of this version of createMemoryVectorStore.')
  const saved = new Map(Object.entries(snapshot?.indexes ?? {}))
  const indexes = new Map<string, MemoryIndex>()
  const find = (indexName: string): MemoryIndex => {
    const found = indexes.get(checkIndexName(indexName))
    if (found !== undefined) return found
    const stored = saved.get(indexName)
    if (stored === undefined)
      throw new VectorStoreError(
        'NO_INDEX',
        `Index "${indexName}" does not exist in memory: create it, or ingest into it.`,
      )
    const index = MemoryIndex.from(stored)
    saved.delete(indexName)
    indexes.set(indexName, index)
    return index
  }
  const exists = (indexName: string): boolean => indexes.has(indexName) || saved.has(indexName)

  const store: MemoryVectorStore = {
    hasExactQuery: true,
    async createIndex({ indexName, dimension, metric = 'cosine' }) {
      checkIndexName(indexName)
      if (!exists(indexName)) indexes.set(indexName, new MemoryIndex(dimension, metric))
      else if (find(indexName).dimension !== dimension)
        throw new VectorStoreError(
          'WRONG_DIMENSION',
          `The index "${indexName}" exists with another dimension.`,
        )
    },
    async upsert(params) {
      const index = find(params.indexName)
      const rows = toRows(params, index.dimension)
      for (const row of rows) index.set(row)
      return rows.map(({ id }) => id)
    },
    async query(params) {
      return find(params.indexName).query(params)
    },
    async deleteVector({ indexName, id }) {
      find(indexName).delete(id)
    },
    async deleteVectors({ indexName, ids }) {
      const index = find(indexName)
      for (const id of ids) index.delete(id)
    },
    async describeIndex({ indexName }) {
      const { dimension, metric, count } = find(indexName)
      return { dimension, metric, count }
    },
    async indexVersion({ indexName }) {
      return find(indexName).version
    },
    async listIds({ indexName, prefix }) {
      return find(indexName).ids.filter((id) => id.startsWith(prefix))
    },
    snapshot() {
      const entries = [...saved.keys(), ...indexes.keys()].map(
        (name) => [name, find(name).snapshot()] as const,
      )
      return { version: 1, indexes: Object.fromEntries(entries) }
    },
  }
  return checkedStore('createMemoryVectorStore', store, QUERY)
}

class MemoryIndex {
  readonly dimension: number
  readonly metric: Metric
  readonly ids: string[] = []
  #metadata: Metadata[] = []
  readonly #rows = new Map<string, number>()
  /** Row after row; with `cosine`, each of length 1. */
  #vectors: Float32Array
  /** The original lengths of the vectors, to return them unchanged. */
  #lengths: Float32Array
  #changes = 0

  constructor(dimension: number, metric: Metric, capacity = 64) {
    if (!Number.isInteger(dimension) || dimension < 1)
      throw new TypeError('"dimension" must be a whole number above 0.')
    this.dimension = dimension
    this.metric = metric
    this.#vectors = new Float32Array(dimension * capacity)
    this.#lengths = new Float32Array(capacity)
  }

  static from({ dimension, metric, ids, metadata, vectors, lengths }: IndexSnapshot): MemoryIndex {
    const index = new MemoryIndex(dimension, metric, 0)
    index.#vectors = fromBase64(vectors)
    index.#lengths = fromBase64(lengths)
    index.#metadata = [...metadata]
    ids.forEach((id, row) => {
      index.ids.push(id)
      index.#rows.set(id, row)
    })
    if (index.#vectors.length !== ids.length * dimension || index.#lengths.length !== ids.length)
      throw new TypeError('The snapshot of createMemoryVectorStore is damaged: create it again.')
    return index
  }

  get count(): number {
    return this.ids.length
  }

  get version(): string {
    return `${this.count}.${this.#changes}`
  }

  set({ id, vector, metadata }: UpsertRow): void {
    const row = this.#rows.get(id) ?? this.#append(id)
    const length = this.metric === 'cosine' ? lengthOf(vector) : 1
    this.#lengths[row] = length
    // A copy, so that later changes by the caller do not affect the index.
    this.#metadata[row] = structuredClone(metadata)
    const start = row * this.dimension
    for (let at = 0; at < this.dimension; at++) this.#vectors[start + at] = vector[at]! / length
    this.#changes += 1
  }

  #append(id: string): number {
    const row = this.ids.length
    if (row === this.#lengths.length) {
      const capacity = Math.max(64, row * 2)
      this.#vectors = grown(this.#vectors, capacity * this.dimension)
      this.#lengths = grown(this.#lengths, capacity)
    }
    this.ids.push(id)
    this.#rows.set(id, row)
    return row
  }

  /** The last row replaces the deleted one. */
  delete(id: string): void {
    const row = this.#rows.get(id)
    if (row === undefined) return
    const last = this.ids.length - 1
    this.#vectors.copyWithin(row * this.dimension, last * this.dimension, (last + 1) * this.dimension)
    this.#lengths[row] = this.#lengths[last]!
    this.ids[row] = this.ids[last]!
    this.#metadata[row] = this.#metadata[last]!
    this.#rows.set(this.ids[row]!, row)
    this.#rows.delete(id)
    this.ids.pop()
    this.#metadata.pop()
    this.#changes += 1
  }

  query(params: MemoryQueryParams): QueryResult[] {
    const { queryVector, topK, includeVector = false, minScore } = params
    checkVector(queryVector, this.dimension)
    const top = this.#search(queryVector, checkTopK(topK), conditionOf(params))
    const results = top.map(({ row, score }) => ({
      id: this.ids[row]!,
      score,
      metadata: structuredClone(this.#metadata[row]!),
      ...(includeVector && { vector: this.#vector(row) }),
    }))
    return typeof minScore === 'number' ? results.filter(({ score }) => score >= minScore) : results
  }

  #search(
    given: readonly number[],
    topK: number,
    condition: Condition | undefined,
  ): { row: number; score: number }[] {
    const { metric, count } = this
    const query = metric === 'cosine' ? toUnit(given) : Float64Array.from(given)
    const isDistance = metric === 'euclidean'
    const values = (isDistance ? distances : products)(query, this.#vectors, count)
    const top = new TopRows(Math.min(topK, count))
    for (let row = 0; row < count; row++) {
      const score = isDistance ? 1 / (1 + values[row]!) : values[row]!
      // The filter is expensive, so it only runs for rows that would be among the best.
      if (top.accepts(score, row) && (condition === undefined || matches(condition, this.#metadata[row]!)))
        top.add(row, score)
    }
    return top.sorted()
  }

  #vector(row: number): number[] {
    const start = row * this.dimension
    const length = this.#lengths[row]!
    return Array.from(this.#vectors.subarray(start, start + this.dimension), (value) => value * length)
  }

  snapshot(): IndexSnapshot {
    const { dimension, metric, ids, count } = this
    return {
      dimension,
      metric,
      ids: [...ids],
      metadata: structuredClone(this.#metadata),
      vectors: toBase64(this.#vectors.subarray(0, count * dimension)),
      lengths: toBase64(this.#lengths.subarray(0, count)),
    }
  }
}

function grown(values: Float32Array, length: number): Float32Array {
  const larger = new Float32Array(length)
  larger.set(values)
  return larger
}

function toBase64(values: Float32Array): string {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  const parts: string[] = []
  // In multiples of 3 bytes, so that only the last part is padded, and few enough for the arguments of one call.
  for (let at = 0; at < bytes.length; at += 0x3000)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x3000))))
  return parts.join('')
}

function fromBase64(text: string): Float32Array {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at)
  return new Float32Array(bytes.buffer)
}
