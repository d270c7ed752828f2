/**
 * `createVectorQueryTool`: search by meaning, as a tool.
 */
import type { McpContext } from '../definition/context.ts'
import { type CreatedTool, createTool } from '../request/create-tool.ts'
import { toEmbed } from './embed.ts'
import { embedText, queryStore } from './external-calls.ts'
import { allOf, type Condition, toFilter } from './filter.ts'
import {
  createInputSchema,
  createOutputSchema,
  type InputSchema,
  type OutputSchema,
  type RetrievalInput,
  type RetrievalOutput,
  type Source,
} from './input.ts'
import { matches } from './matches.ts'
import {
  checkOptions,
  RETRIEVAL_OPTIONS,
  type RetrievalOptions,
  type Settings,
  settingsOf,
  toQueryOptions,
} from './options.ts'
import { rerank } from './rerank.ts'
import { type QueryResult, textOf } from './store.ts'

export type VectorQueryToolOptions = RetrievalOptions

/** A tool of this module, for `tools` of a server. */
export type RetrievalTool = CreatedTool<InputSchema, OutputSchema, RetrievalOutput>

const NAME = 'createVectorQueryTool'

/**
 * Creates a tool that searches an index by meaning. The request context may set or override all options except `model`, `id` and
 * `description`. A model's filter only narrows what the server's own filter allows.
 *
 * @throws TypeError for invalid options.
 *
 * ```ts
 * const search = createVectorQueryTool({ vectorStore, indexName: 'docs', model: 'openai/text-embedding-3-small' })
 * ```
 */
export function createVectorQueryTool(options: VectorQueryToolOptions): RetrievalTool {
  checkOptions(NAME, options, RETRIEVAL_OPTIONS)
  const embed = toEmbed(options.model)
  return createTool({
    id: options.id ?? toToolName('VectorQuery', options),
    description: options.description ?? describe(options),
    inputSchema: createInputSchema({ withFilter: options.enableFilter === true }),
    outputSchema: createOutputSchema(),
    mcp: { annotations: { readOnlyHint: true } },
    async execute(input: RetrievalInput, context: McpContext): Promise<RetrievalOutput> {
      const settings = await settingsOf(NAME, options, input, context)
      const vector = await embedText(embed, input.queryText, settings)
      const found = await search(settings, vector)
      const { results, notice } =
        settings.reranker === undefined
          ? { results: found, notice: undefined }
          : await rerank(input.queryText, found, settings.reranker, settings)
      return {
        relevantContext: results.map(({ metadata = {} }) => metadata),
        sources: settings.includeSources ? results.map((one) => toSource(one, settings)) : [],
        ...(notice !== undefined && { notice }),
      }
    },
  })
}

/** The most similar chunks that match both filters. */
export async function search(
  settings: Settings,
  queryVector: readonly number[],
): Promise<readonly QueryResult[]> {
  const { indexName, topK, own, asked, includeVectors, databaseConfig } = settings
  const condition = allOf([own, asked])
  const found = await queryStore(settings, {
    ...toQueryOptions(databaseConfig),
    indexName,
    queryVector,
    topK,
    includeVector: includeVectors,
    // Written from the parsed filter, so that a store never receives a model's own JSON.
    ...(condition !== undefined && { filter: toFilter(condition) }),
  })
  return onlyAllowed(found, own)
}

/** Applies the server's own filter again, so that a store that ignores a condition cannot return rows of another tenant. */
export function onlyAllowed(
  found: readonly QueryResult[],
  own: Condition | undefined,
): readonly QueryResult[] {
  return own === undefined ? found : found.filter(({ metadata = {} }) => matches(own, metadata))
}

export function toSource(result: QueryResult, { includeVectors }: Settings): Source {
  const { id, metadata = {}, vector, score } = result
  return {
    id: String(id),
    metadata,
    score,
    document: result.document || textOf(result),
    ...(includeVectors && vector !== undefined && { vector }),
  }
}

/** A valid tool name: letters, digits, `_`, `-` and `.`, at most 64 of them, which every client accepts. */
export function toToolName(
  kind: string,
  { vectorStoreName = 'DirectVectorStore', indexName }: RetrievalOptions,
): string {
  const words = [kind, vectorStoreName, indexName, 'Tool'].filter((word) => word !== undefined)
  return words
    .join('_')
    .replaceAll(/[^\w.-]+/g, '_')
    .slice(0, 64)
}

function describe({ indexName }: RetrievalOptions): string {
  const index = indexName === undefined ? '' : ` (index "${indexName}")`
  return `Searches this server's documents${index} by meaning and returns the best matching passages. Use it before you answer a question that they may cover, and base the answer on what it returns. If nothing matches, search again with other words.`
}
