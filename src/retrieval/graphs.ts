/** The graph that answers a question: of a whole index, built once per version, or of the most similar chunks, built once per set. */

import { askStore, queryStore } from './external-calls.ts'
import { allOf, type Condition, toFilter } from './filter.ts'
import { buildGraph, type ChunkGraph } from './graph.ts'
import { type Cached, GraphCache } from './graph-cache.ts'
import { type Settings, toQueryOptions } from './options.ts'
import type { QueryResult, SearchableStore } from './store.ts'
import { onlyAllowed } from './vector-query-tool.ts'

export interface GraphsOptions {
  /** Indexes with up to this many chunks get one graph of all chunks. */
  readonly maxNodes: number
  readonly maxCacheBytes: number
  /** Milliseconds for which a graph is cached for a store without `indexVersion`. */
  readonly maxAgeMs: number
}

/** Chunks in the graph of one question, if the index has more than `maxNodes`. */
const MAX_QUESTION_NODES = 200
/** The part of `maxCacheBytes` for such graphs, so that many questions to one index do not evict the graphs of others. */
const QUESTIONS_SHARE = 0.25

interface Version {
  readonly name: string
  readonly expiresAt: number
  /** The number of vectors, if known. */
  readonly count?: number | undefined
}

/** The cache key of a graph: its source and its version. Without a version nothing is cached. */
interface Place {
  readonly key: string
  readonly version: Version | undefined
}

/**
 * Creates the function that finds or builds a graph. Each of the server's filters has a separate graph, so that tenants never share one.
 * Requests do not share a build, since some platforms do not allow a request to wait for another.
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

/** Checks the cache again before it builds, since another request may have built the same graph in the meantime. */
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

/** Undefined for a store without information about its indexes; then nothing is cached. */
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
 * All chunks that the server's filter allows, or undefined if there are or may be more than `maxNodes` or than the store returned: a graph
 * for one question must not be cached for all others.
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
  // The chunks of a graph must not depend on their similarity to this question.
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
