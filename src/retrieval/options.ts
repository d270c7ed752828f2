/** The options of both tools, and their values for one request: the request context may set or override some. */
import type { AuthInfo, Env, McpContext } from '../definition/context.ts'
import { type Names, refuseUnknown, requireOptions } from '../definition/unknown-option.ts'
import type { ProviderOptions } from './ai-sdk.ts'
import { type EmbeddingModel, toEmbed } from './embed.ts'
import { allOf, type Condition, type Filter, parseFilter } from './filter.ts'
import { isTopK, MAX_TOP_K, type RetrievalInput } from './input.ts'
import { checkReranker, type RerankerConfig } from './rerank.ts'
import { checkIndexName, type SearchableStore } from './store.ts'

/** Values by name, for one request: `ctx.requestContext`, or the argument of `execute`. */
export interface RequestValues {
  get(key: string): unknown
}

/** The caller, for a store or a filter that depends on it. */
export interface RetrievalCaller {
  readonly requestContext: RequestValues
  /** Undefined for an anonymous caller. */
  readonly auth: AuthInfo | undefined
  readonly env: Env
}

/** Picks the store for a request. */
export type VectorStoreResolver = (caller: RetrievalCaller) => SearchableStore | Promise<SearchableStore>

/** Options of one kind of store for `query`. */
export interface DatabaseConfig {
  readonly pgvector?: {
    readonly minScore?: number
    readonly ef?: number
    readonly probes?: number
    readonly exact?: boolean
  }
  readonly pinecone?: { readonly namespace?: string; readonly sparseVector?: object }
  readonly chroma?: { readonly where?: object; readonly whereDocument?: object }
  /** Options of another store's `query`. */
  readonly [store: string]: object | undefined
}

export interface RetrievalOptions {
  /** The store, or a function that picks it for a request. */
  readonly vectorStore?: SearchableStore | VectorStoreResolver
  /** The name of a store in `vectorStores`, of this tool or of the server. */
  readonly vectorStoreName?: string
  /** Stores by name. */
  readonly vectorStores?: { readonly [name: string]: SearchableStore }
  readonly indexName?: string
  /** Must be the model that filled the index. */
  readonly model: EmbeddingModel
  /** Default: derived from the names of the store and the index. */
  readonly id?: string
  /** Tells a model when to use the tool. */
  readonly description?: string
  /** Whether a model may filter by metadata. Default false. */
  readonly enableFilter?: boolean
  /** A filter for every result, in addition to the model's. A function that returns nothing refuses the request. */
  readonly filter?: Filter | ((caller: RetrievalCaller) => Filter | undefined | Promise<Filter | undefined>)
  /** Whether sources include their vector. Default false. */
  readonly includeVectors?: boolean
  /** Whether results have `sources`. Default true. */
  readonly includeSources?: boolean
  readonly reranker?: RerankerConfig
  readonly databaseConfig?: DatabaseConfig
  /** Passed to the embedding model. */
  readonly providerOptions?: ProviderOptions
}

/** The names of `RetrievalOptions`. */
export const RETRIEVAL_OPTIONS: Names<RetrievalOptions> = {
  vectorStore: 'object',
  vectorStoreName: 'string',
  vectorStores: 'object',
  indexName: 'string',
  model: 1,
  id: 'string',
  description: 'string',
  enableFilter: 'boolean',
  filter: 1,
  includeVectors: 'boolean',
  includeSources: 'boolean',
  reranker: 'object',
  databaseConfig: 'object',
  providerOptions: 'object',
}

const PGVECTOR: Names<NonNullable<DatabaseConfig['pgvector']>> = {
  minScore: [-Infinity],
  ef: [1],
  probes: [1],
  exact: 'boolean',
}
const PINECONE: Names<NonNullable<DatabaseConfig['pinecone']>> = {
  namespace: 'string',
  sparseVector: 'object',
}
const CHROMA: Names<NonNullable<DatabaseConfig['chroma']>> = { where: 'object', whereDocument: 'object' }

/** @throws TypeError for an unknown option of a store that this package has. */
function checkDatabaseConfig({ pgvector, pinecone, chroma }: DatabaseConfig): void {
  refuseUnknown('"databaseConfig.pgvector"', pgvector, PGVECTOR)
  refuseUnknown('"databaseConfig.pinecone"', pinecone, PINECONE)
  refuseUnknown('"databaseConfig.chroma"', chroma, CHROMA)
}

/** The settings of one search. */
export interface Settings {
  readonly store: SearchableStore
  readonly indexName: string
  readonly topK: number
  /** The server's filter. */
  readonly own: Condition | undefined
  /** The model's filter. */
  readonly asked: Condition | undefined
  readonly includeVectors: boolean
  readonly includeSources: boolean
  readonly reranker: RerankerConfig | undefined
  readonly databaseConfig: DatabaseConfig
  readonly providerOptions: ProviderOptions | undefined
  readonly env: Env
  readonly signal: AbortSignal | undefined
}

const DEFAULT_TOP_K = 10

/** @throws TypeError for an invalid option. */
export function checkOptions(tool: string, options: RetrievalOptions, known: object): void {
  requireOptions(tool, options, known)
  checkDatabaseConfig(options.databaseConfig ?? {})
  const { vectorStore, vectorStores = {}, indexName, model, reranker, filter } = options
  toEmbed(model)
  if (indexName !== undefined) checkIndexName(indexName)
  if (reranker !== undefined) checkReranker(reranker)
  if (typeof filter !== 'function') parseFilter(filter)
  const stores = typeof vectorStore === 'function' || vectorStore === undefined ? [] : [vectorStore]
  for (const store of [...stores, ...Object.values(vectorStores)])
    if (!isStore(store)) throw new TypeError(`A store of ${tool} has no query(): pass a vector store.`)
}

/**
 * The settings of one request.
 *
 * @throws Error naming a required value that is given neither in the options nor in the request context.
 */
export async function settingsOf(
  tool: string,
  options: RetrievalOptions,
  input: RetrievalInput,
  context: McpContext,
): Promise<Settings> {
  const caller = callerOf(context)
  const { requestContext } = caller
  const reranker = read<RerankerConfig>(requestContext, 'reranker', 'object')
  if (reranker !== undefined && reranker !== options.reranker) checkReranker(reranker)
  const databaseConfig = read<DatabaseConfig>(requestContext, 'databaseConfig', 'object')
  if (databaseConfig !== undefined) checkDatabaseConfig(databaseConfig)
  return {
    store: await storeOf(tool, options, caller),
    indexName: checkIndexName(
      required(tool, 'indexName', read<string>(requestContext, 'indexName', 'string') ?? options.indexName),
    ),
    topK: readTopK(requestContext) ?? input.topK ?? DEFAULT_TOP_K,
    own: await ownFilter(tool, options, caller),
    asked: options.enableFilter === true ? parseFilter(input.filter) : undefined,
    includeVectors:
      read<boolean>(requestContext, 'includeVectors', 'boolean') ?? options.includeVectors ?? false,
    includeSources:
      read<boolean>(requestContext, 'includeSources', 'boolean') ?? options.includeSources ?? true,
    reranker: reranker ?? options.reranker,
    databaseConfig: { ...options.databaseConfig, ...databaseConfig },
    providerOptions:
      read<ProviderOptions>(requestContext, 'providerOptions', 'object') ?? options.providerOptions,
    env: context.env,
    signal: context.signal,
  }
}

/** The options of each kind of store in one object for its `query`. */
export function toQueryOptions(databaseConfig: DatabaseConfig): { readonly [option: string]: unknown } {
  const {
    queryVector: _,
    indexName: _name,
    filter: _filter,
    topK: _topK,
    ...options
  } = Object.assign({}, ...Object.values(databaseConfig)) as { readonly [option: string]: unknown }
  return options
}

/** A value of the request context, or undefined. @throws Error if it is of another type. */
export function read<Value>(
  values: RequestValues,
  key: string,
  type: 'string' | 'boolean' | 'object' | 'number',
): Value | undefined {
  const value = values.get(key)
  if (value === undefined || value === null) return undefined
  if (typeof value === type) return value as Value
  throw new TypeError(`"${key}" in the request context must be of type ${type}.`)
}

function callerOf({ requestContext, auth, env }: McpContext): RetrievalCaller {
  return { requestContext, auth, env }
}

function readTopK(requestContext: RequestValues): number | undefined {
  const topK = read<number>(requestContext, 'topK', 'number')
  if (topK === undefined || isTopK(topK)) return topK
  throw new TypeError(`"topK" in the request context must be a whole number from 1 to ${MAX_TOP_K}.`)
}

async function storeOf(
  tool: string,
  options: RetrievalOptions,
  caller: RetrievalCaller,
): Promise<SearchableStore> {
  const { requestContext } = caller
  const named = read<string>(requestContext, 'vectorStoreName', 'string')
  const { vectorStore } = options
  if (vectorStore !== undefined && named === undefined) {
    const store = typeof vectorStore === 'function' ? await vectorStore(caller) : vectorStore
    if (isStore(store)) return store
    throw new TypeError(`The "vectorStore" function of ${tool} returned no store for this request.`)
  }
  const name = required(tool, 'vectorStoreName', named ?? options.vectorStoreName)
  const own = options.vectorStores ?? {}
  const stores = Object.hasOwn(own, name)
    ? own
    : (read<typeof own>(requestContext, 'vectorStores', 'object') ?? {})
  const store: unknown = Object.hasOwn(stores, name) ? stores[name] : undefined
  if (isStore(store)) return store
  throw new TypeError(`Unknown vector store "${name}": add it to "vectorStores".`)
}

/** The filters of the options and of the request context; both must match. */
async function ownFilter(
  tool: string,
  { filter }: RetrievalOptions,
  caller: RetrievalCaller,
): Promise<Condition | undefined> {
  const given = typeof filter === 'function' ? await filter(caller) : filter
  // An unknown tenant must not see the rows of all tenants.
  if (typeof filter === 'function' && (given === undefined || given === null))
    throw new TypeError(
      `The "filter" function of ${tool} returned nothing for this request: return {} to search everything.`,
    )
  return allOf([parseFilter(given), parseFilter(caller.requestContext.get('filter'))])
}

function required(tool: string, name: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value
  throw new TypeError(`${tool} needs "${name}": pass it as an option, or set it in the request context.`)
}

function isStore(store: unknown): store is SearchableStore {
  return typeof (store as Partial<SearchableStore> | null | undefined)?.query === 'function'
}
