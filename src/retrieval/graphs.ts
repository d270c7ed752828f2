/**
 * The graph that a question is answered from: that of a whole index, built once for each version, or that of the nearest chunks, built
 * once for each set of them.
 */

import { askStore, queryStore } from './external-calls.ts'
import { allOf, type Condition, toFilter } from './filter.ts'
import { buildGraph, type ChunkGraph } from './graph.ts'
import { type Cached, GraphCache } from './graph-cache.ts'
import { type Settings, toQueryOptions } from './options.ts'
import type { QueryResult, SearchableStore } from './store.ts'
import { onlyAllowed } from './vector-query-tool.ts'

export interface GraphsOptions {
  /** Chunks up to which there is one graph of all. */
  readonly maxNodes: number
  readonly maxCacheBytes: number
  /** Milliseconds for which a graph is kept, of a store without `indexVersion`. */
  readonly maxAgeMs: number
}

/** Chunks of a graph for one question, where there are more than `maxNodes`. */
const MAX_QUESTION_NODES = 200
/** What such graphs may take of `maxCacheBytes`, so that many questions to one index do not push out the graphs of others. */
const QUESTIONS_SHARE = 0.25

interface Version {
  readonly name: string
  readonly expiresAt: number
  /** The number of vectors, where it is known already. */
  readonly count?: number | undefined
}

/** A cached graph's place: what it is made of, and when. Nothing is kept without a version. */
interface Place {
  readonly key: string
  readonly version: Version | undefined
}

/**
 * Creates the function that finds or builds a graph. Each of the server's filters has a graph of its own, so that no tenant's chunks
 * are in the graph of another. Requests do not share a build: on some platforms none may wait for what another has begun.
 */
export function createGraphs({ maxNodes, maxCacheBytes, maxAgeMs }: GraphsOptions) {
  const wholes = new GraphCache(maxCacheBytes * (1 - QUESTIONS_SHARE))
  const questions = new GraphCache(maxCacheBytes * QUESTIONS_SHARE)
  const numberOf = createNumbers()

  return async (settings: Settings, vector: readonly number[], threshold: number): Promise<ChunkGraph> => {
    const { store, indexName, own, asked, databaseConfig } = settings
    const key = JSON.stringify([numberOf(store), indexName, own ?? null, threshold, databaseConfig])
    const place = { key, version: await versionOf(settings, maxAgeMs) }
    const known = find(wholes, place)
    if (known !== undefined && known !== 'partial') return known
    if (known === undefined) {
      const chunks = await fetchAll(settings, vector, maxNodes, place.version)
      if (chunks !== undefined) return findOrBuild(wholes, place, chunks, threshold)
      keep(wholes, place, 'partial')
    }
    const limit = Math.min(MAX_QUESTION_NODES, maxNodes, store.maxTopK ?? MAX_QUESTION_NODES)
    const nearest = await fetchChunks(settings, vector, { topK: limit, condition: allOf([own, asked]) })
    const ids = JSON.stringify(nearest.map(({ id }) => id))
    return findOrBuild(questions, { ...place, key: key + ids }, nearest, threshold)
  }
}

/** Looks again before it builds: while it fetched, another request may have built the same graph. */
function findOrBuild(
  cache: GraphCache,
  place: Place,
  chunks: readonly QueryResult[],
  threshold: number,
): ChunkGraph {
  const found = find(cache, place)
  if (found !== undefined && found !== 'partial') return found
  const graph = buildGraph(chunks, threshold)
  keep(cache, place, graph)
  return graph
}

function find(cache: GraphCache, { key, version }: Place): Cached | undefined {
  return version && cache.get(key, version.name)
}

function keep(cache: GraphCache, { key, version }: Place, graph: Cached): void {
  if (version !== undefined) cache.set(key, { version: version.name, expiresAt: version.expiresAt, graph })
}

function createNumbers(): (store: SearchableStore) => number {
  const numbers = new WeakMap<SearchableStore, number>()
  let last = 0
  return (store) => {
    const number = numbers.get(store) ?? ++last
    numbers.set(store, number)
    return number
  }
}

/** Undefined for a store that says nothing of its indexes: then nothing is kept. */
async function versionOf(settings: Settings, maxAgeMs: number): Promise<Version | undefined> {
  const { store, indexName } = settings
  if (store.indexVersion === undefined) {
    const count = await countOf(settings)
    return count === undefined ? undefined : { name: String(count), expiresAt: Date.now() + maxAgeMs, count }
  }
  const name = await askStore(async () => store.indexVersion?.({ indexName }), settings)
  return { name: String(name), expiresAt: Number.POSITIVE_INFINITY }
}

async function countOf(settings: Settings): Promise<number | undefined> {
  const { store, indexName } = settings
  const stats = await askStore(async () => store.describeIndex?.({ indexName }), settings)
  return typeof stats?.count === 'number' ? stats.count : undefined
}

/**
 * All chunks that the server's filter allows, or undefined where they are more than `maxNodes`, or may be more than the store found:
 * a graph of the chunks near one question must not be kept for all others.
 */
async function fetchAll(
  settings: Settings,
  vector: readonly number[],
  maxNodes: number,
  version: Version | undefined,
): Promise<readonly QueryResult[] | undefined> {
  const { store, own } = settings
  const limit = Math.min(maxNodes + 1, store.maxTopK ?? Number.POSITIVE_INFINITY)
  const count = version?.count ?? (version && (await countOf(settings))) ?? 0
  const isExact = store.hasExactQuery === true
  if (count >= limit && (own === undefined || !isExact)) return undefined
  const chunks = await fetchChunks(settings, vector, { topK: limit, condition: own, isExact })
  const isMissingSome = own === undefined && chunks.length < count
  return chunks.length >= limit || isMissingSome ? undefined : chunks
}

async function fetchChunks(
  settings: Settings,
  queryVector: readonly number[],
  wanted: { readonly topK: number; readonly condition: Condition | undefined; readonly isExact?: boolean },
): Promise<readonly QueryResult[]> {
  // Which chunks a graph has must not depend on how near they are to this question.
  const { minScore: _, ...queryOptions } = toQueryOptions(settings.databaseConfig)
  const found = await queryStore(settings, {
    ...queryOptions,
    indexName: settings.indexName,
    queryVector,
    topK: wanted.topK,
    includeVector: true,
    ...(wanted.isExact === true && { exact: true }),
    ...(wanted.condition !== undefined && { filter: toFilter(wanted.condition) }),
  })
  return onlyAllowed(found, settings.own)
}
