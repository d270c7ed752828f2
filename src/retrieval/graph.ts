/** A graph of chunks with edges between similar ones. Stored in typed arrays, row after row, so that its size is known. */
import type { Metadata } from './matches.ts'
import { products, toUnit } from './similarity.ts'
import { type QueryResult, VectorStoreError } from './store.ts'

export interface ChunkGraph {
  readonly nodes: readonly GraphNode[]
  readonly dimension: number
  /** Each of length 1. */
  readonly vectors: Float32Array
  /** The edges of node `i` are at `starts[i]` to `starts[i + 1]`. */
  readonly starts: Uint32Array
  readonly targets: Uint32Array
  /** The similarity of both ends. */
  readonly weights: Float32Array
  /** Approximate size in memory. */
  readonly bytes: number
}

export interface GraphNode {
  readonly id: string
  readonly metadata: Metadata
  readonly document: string | undefined
}

/** The edges of one node while a graph is built. */
interface Edges {
  readonly targets: number[]
  readonly weights: number[]
}

/** Unrelated chunks: below this, a similarity is only a 32-bit rounding error. */
const NO_SIMILARITY = 1e-6

/** Bytes of a node's object without its strings. */
const NODE_BYTES = 200

/**
 * Builds the graph of chunks that a store returned with their vectors. In the order of their ids, so that the same chunks produce the same
 * graph.
 *
 * @throws VectorStoreError for a chunk without a vector, or with another dimension than the first.
 */
export function buildGraph(chunks: readonly QueryResult[], threshold: number): ChunkGraph {
  const sorted = [...chunks].sort((one, other) => (one.id < other.id ? -1 : 1))
  const dimension = sorted[0]?.vector?.length ?? 0
  const vectors = toUnitVectors(sorted, dimension)
  const edges: Edges[] = sorted.map(() => ({ targets: [], weights: [] }))
  for (let one = 0; one < sorted.length; one++) {
    const vector = Float64Array.from(vectors.subarray(one * dimension, (one + 1) * dimension))
    // Each pair once: with the rows after this one.
    const rest = vectors.subarray((one + 1) * dimension)
    products(vector, rest, sorted.length - one - 1).forEach((similarity, at) => {
      if (similarity > threshold && similarity > NO_SIMILARITY) connect(edges, one, one + 1 + at, similarity)
    })
  }
  const nodes = sorted.map((chunk) => ({
    id: chunk.id,
    metadata: chunk.metadata ?? {},
    document: chunk.document,
  }))
  return { nodes, dimension, vectors, ...toRows(edges), bytes: bytesOf(nodes, vectors, edges) }
}

function connect(edges: readonly Edges[], one: number, other: number, weight: number): void {
  edges[one]!.targets.push(other)
  edges[one]!.weights.push(weight)
  edges[other]!.targets.push(one)
  edges[other]!.weights.push(weight)
}

function toUnitVectors(chunks: readonly QueryResult[], dimension: number): Float32Array {
  const vectors = new Float32Array(chunks.length * dimension)
  chunks.forEach(({ vector }, index) => {
    if (vector === undefined || vector === null || vector.length === 0)
      throw new VectorStoreError(
        'STORE_FAILED',
        'The vector store returned chunks without vectors, which a graph needs.',
      )
    if (vector.length !== dimension)
      throw new VectorStoreError('WRONG_DIMENSION', 'The vectors of the index have different dimensions.')
    vectors.set(toUnit(vector), index * dimension)
  })
  return vectors
}

function toRows(edges: readonly Edges[]): Pick<ChunkGraph, 'starts' | 'targets' | 'weights'> {
  const total = edges.reduce((sum, { targets }) => sum + targets.length, 0)
  const starts = new Uint32Array(edges.length + 1)
  const targets = new Uint32Array(total)
  const weights = new Float32Array(total)
  edges.forEach((row, index) => {
    targets.set(row.targets, starts[index]!)
    weights.set(row.weights, starts[index]!)
    starts[index + 1] = starts[index]! + row.targets.length
  })
  return { starts, targets, weights }
}

function bytesOf(nodes: readonly GraphNode[], vectors: Float32Array, edges: readonly Edges[]): number {
  const texts = nodes.reduce((sum, node) => sum + 2 * JSON.stringify(node).length + NODE_BYTES, 0)
  return texts + vectors.byteLength + edges.reduce((sum, { targets }) => sum + 8 * targets.length + 4, 4)
}
