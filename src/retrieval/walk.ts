/**
 * A random walk with restart over a graph: personalised PageRank. Computed, not sampled, so that the same question has the same
 * answer.
 */
import type { ChunkGraph } from './graph.ts'

export interface WalkOptions {
  /** The computed steps. After n steps, the difference to the limit is below (1 - restartProb) ^ n. */
  readonly steps: number
  /** The probability of going back to the start before each step. */
  readonly restartProb: number
  /** The nodes that this walk may visit: 1 for each. Default: all. */
  readonly allowed?: Uint8Array | undefined
}

/**
 * The probability of being at each node: p = r s + (1 - r) (P^T p + d s), where `s` is the start, P goes along an edge with a
 * probability in proportion to its weight, and d is the probability of being at a node without edges, from which it restarts.
 *
 * @param start Adds up to 1.
 */
export function walk(graph: ChunkGraph, start: Float64Array, options: WalkOptions): Float64Array {
  const { steps, restartProb, allowed } = options
  const sums = outgoing(graph, allowed)
  let at = start
  for (let step = 0; step < steps; step++) {
    const next = new Float64Array(at.length)
    const stranded = spread(graph, at, next, sums, allowed)
    const back = restartProb + (1 - restartProb) * stranded
    for (let node = 0; node < next.length; node++)
      next[node] = (1 - restartProb) * next[node]! + back * start[node]!
    const isSettled = distance(at, next) < 1e-12
    at = next
    if (isSettled) break
  }
  return at
}

/** Moves along the edges, and returns the probability at nodes without edges. */
function spread(
  { starts, targets, weights }: ChunkGraph,
  from: Float64Array,
  to: Float64Array,
  sums: Float64Array,
  allowed: Uint8Array | undefined,
): number {
  let stranded = 0
  for (let node = 0; node < from.length; node++) {
    const here = from[node]!
    if (here === 0) continue
    if (sums[node] === 0) {
      stranded += here
      continue
    }
    const share = here / sums[node]!
    for (let edge = starts[node]!; edge < starts[node + 1]!; edge++) {
      const target = targets[edge]!
      if (allowed === undefined || allowed[target] === 1) to[target]! += share * weights[edge]!
    }
  }
  return stranded
}

function outgoing(
  { nodes, starts, targets, weights }: ChunkGraph,
  allowed: Uint8Array | undefined,
): Float64Array {
  const sums = new Float64Array(nodes.length)
  for (let node = 0; node < nodes.length; node++)
    for (let edge = starts[node]!; edge < starts[node + 1]!; edge++)
      if (allowed === undefined || allowed[targets[edge]!] === 1) sums[node]! += weights[edge]!
  return sums
}

function distance(one: Float64Array, other: Float64Array): number {
  let sum = 0
  for (let node = 0; node < one.length; node++) sum += Math.abs(one[node]! - other[node]!)
  return sum
}
