/** `createGraphRAGTool`: finds chunks that are similar to the question, and chunks connected with them. */
import type { McpContext } from '../definition/context.ts'
import { present } from '../definition/present.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import { createTool } from '../request/create-tool.ts'
import { toEmbed } from './embed.ts'
import { embedText } from './external-calls.ts'
import type { ChunkGraph } from './graph.ts'
import { createGraphs } from './graphs.ts'
import { createInputSchema, createOutputSchema, type RetrievalInput, type RetrievalOutput } from './input.ts'
import { matches } from './matches.ts'
import {
  checkOptions,
  RETRIEVAL_OPTIONS,
  type RetrievalOptions,
  read,
  type Settings,
  settingsOf,
} from './options.ts'
import { products, toUnit } from './similarity.ts'
import { checkVector, type QueryResult, textOf } from './store.ts'
import { TopRows } from './top-rows.ts'
import { type RetrievalTool, toSource, toToolName } from './vector-query-tool.ts'
import { walk } from './walk.ts'

export interface GraphOptions {
  /** The dimension that the index must have. Default: any. */
  readonly dimension?: number
  /** The similarity above which two chunks are connected. Default 0.7. */
  readonly threshold?: number
  /** The computed steps of the walk. Default 100. */
  readonly randomWalkSteps?: number
  /** The probability of going back to the start before each step, above 0 and up to 1. Default 0.15. */
  readonly restartProb?: number
  /** Indexes with up to this many chunks get one graph of all chunks. Default 1000. */
  readonly maxNodes?: number
  /** Maximum bytes of all cached graphs in one process or isolate. Default 67 108 864. */
  readonly maxCacheBytes?: number
  /** Milliseconds for which a graph is cached if the store does not report changes of an index. Default 60 000. */
  readonly maxAgeMs?: number
}

export interface GraphRAGToolOptions extends Omit<RetrievalOptions, 'reranker'> {
  readonly graphOptions?: GraphOptions
}

const { reranker: _, ...SHARED } = RETRIEVAL_OPTIONS
const OPTIONS: Names<GraphRAGToolOptions> = { ...SHARED, graphOptions: 'object' }
const GRAPH_OPTIONS: Names<GraphOptions> = {
  dimension: [1],
  threshold: [-1, 1],
  randomWalkSteps: [1],
  restartProb: [0, 1],
  maxNodes: [1],
  maxCacheBytes: [0],
  maxAgeMs: [0],
}

const NAME = 'createGraphRAGTool'

const DEFAULTS = {
  threshold: 0.7,
  randomWalkSteps: 100,
  restartProb: 0.15,
  maxNodes: 1000,
  maxCacheBytes: 67_108_864,
  maxAgeMs: 60_000,
} as const

type Graphs = Required<Omit<GraphOptions, 'dimension'>> & Pick<GraphOptions, 'dimension'>

/**
 * Creates a tool that ranks the chunks of an index by a random walk from those most similar to the question, so that it also finds related
 * chunks. For an index with up to `maxNodes` chunks, the graph is built once for each version of the index and each of the server's
 * filters. For a larger index, it is built from the 200 chunks most similar to the question.
 *
 * @throws TypeError for invalid options.
 *
 * ```ts
 * const connect = createGraphRAGTool({ vectorStore, indexName: 'docs', model: embed, graphOptions: { threshold: 0.6 } })
 * ```
 */
export function createGraphRAGTool(options: GraphRAGToolOptions): RetrievalTool {
  checkOptions(NAME, options, OPTIONS)
  refuseUnknown('"graphOptions"', options.graphOptions, GRAPH_OPTIONS)
  const graphs: Graphs = { ...DEFAULTS, ...present(options.graphOptions ?? {}) }
  checkWalk(graphs)
  const embed = toEmbed(options.model)
  const graphFor = createGraphs(graphs)
  return createTool({
    id: options.id ?? toToolName('GraphRAG', options),
    description: options.description ?? describe(options),
    inputSchema: createInputSchema({ withFilter: options.enableFilter === true }),
    outputSchema: createOutputSchema(),
    mcp: { annotations: { readOnlyHint: true } },
    async execute(input: RetrievalInput, context: McpContext): Promise<RetrievalOutput> {
      const settings = await settingsOf(NAME, options, input, context)
      const forRequest = { ...graphs, ...walkOf(context) }
      checkWalk(forRequest)
      const vector = await embedText(embed, input.queryText, settings)
      const graph = await graphFor(settings, vector, forRequest.threshold)
      const results = rank(graph, vector, settings, forRequest)
      return {
        relevantContext: results.map(textOf),
        sources: settings.includeSources ? results.map((one) => toSource(one, settings)) : [],
      }
    },
  })
}

function checkWalk(options: Graphs): void {
  const { threshold, randomWalkSteps, restartProb, maxNodes } = options
  if (!(threshold >= -1 && threshold <= 1))
    throw new TypeError('"threshold" of a graph must be from -1 to 1.')
  if (!(restartProb > 0 && restartProb <= 1))
    throw new TypeError('"restartProb" of a graph must be above 0, up to 1.')
  if (!(Number.isInteger(randomWalkSteps) && randomWalkSteps >= 1 && randomWalkSteps <= 10_000))
    throw new TypeError('"randomWalkSteps" of a graph must be a whole number from 1 to 10 000.')
  if (!(Number.isInteger(maxNodes) && maxNodes >= 1))
    throw new TypeError('"maxNodes" of a graph must be a whole number above 0.')
  for (const name of ['maxCacheBytes', 'maxAgeMs'] as const)
    if (!(options[name] >= 0)) throw new TypeError(`"${name}" of a graph must be a number from 0.`)
}

/** The settings that the request context overrides. */
function walkOf({ requestContext }: McpContext): Partial<Graphs> {
  const names = ['randomWalkSteps', 'restartProb', 'threshold'] as const
  const entries = names.map((name) => [name, read<number>(requestContext, name, 'number')] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The chunks that the walk visits most often, starting at the `topK` most similar to the question. */
function rank(
  graph: ChunkGraph,
  given: readonly number[],
  settings: Settings,
  options: Graphs,
): QueryResult[] {
  const { nodes, dimension, vectors } = graph
  if (nodes.length === 0) return []
  checkVector(given, options.dimension ?? dimension)
  checkVector(given, dimension)
  const { topK, asked } = settings
  const allowed = asked && Uint8Array.from(nodes, ({ metadata }) => (matches(asked, metadata) ? 1 : 0))
  const nearest = nearestNodes(graph, toUnit(given), topK, allowed)
  const total = nearest.reduce((sum, { score }) => sum + weightOf(score), 0)
  const start = new Float64Array(nodes.length)
  for (const { row, score } of nearest) start[row] = weightOf(score) / total
  const { randomWalkSteps: steps, restartProb } = options
  const visits = walk(graph, start, { steps, restartProb, allowed })
  const top = new TopRows(Math.min(topK, nodes.length))
  visits.forEach((score, row) => {
    if (score > 0 && top.accepts(score, row)) top.add(row, score)
  })
  return top.sorted().map(({ row, score }) => ({
    ...nodes[row]!,
    metadata: structuredClone(nodes[row]!.metadata),
    score,
    vector: Array.from(vectors.subarray(row * dimension, (row + 1) * dimension)),
  }))
}

function nearestNodes(
  { nodes, vectors }: ChunkGraph,
  query: Float64Array,
  topK: number,
  allowed: Uint8Array | undefined,
): { row: number; score: number }[] {
  const top = new TopRows(Math.min(topK, nodes.length))
  products(query, vectors, nodes.length).forEach((score, row) => {
    if (allowed?.[row] !== 0 && top.accepts(score, row)) top.add(row, score)
  })
  return top.sorted()
}

/** Above 0 even for dissimilar chunks, since the walk must start somewhere. */
function weightOf(similarity: number): number {
  return Math.max(similarity, 1e-6)
}

function describe({ indexName }: RetrievalOptions): string {
  const index = indexName === undefined ? '' : ` (index "${indexName}")`
  return `Searches this server's documents${index} for passages that are related to a question, directly or through other passages. Use it for questions about relations, causes and overviews, where a plain search finds only a part. Base the answer on what it returns.`
}
