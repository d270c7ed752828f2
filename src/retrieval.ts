/**
 * Retrieval: ready-made tools that search a vector store, and stores that run on edge platforms. A separate entry point, so that it
 * is loaded only if it is used.
 */
export type {
  AiSdkEmbeddingModel,
  AiSdkLanguageModel,
  AiSdkRerankingModel,
  ProviderOptions,
} from './retrieval/ai-sdk.ts'
export {
  type AiBinding,
  type BoundEmbeddingModel,
  type EmbeddingCall,
  EmbeddingError,
  type EmbeddingModel,
  type EmbedFunction,
} from './retrieval/embed.ts'
export {
  type FieldFilter,
  type Filter,
  type Filter as VectorFilter,
  FilterError,
  type Scalar,
} from './retrieval/filter.ts'
export {
  createGraphRAGTool,
  type GraphOptions,
  type GraphRAGToolOptions,
} from './retrieval/graph-rag-tool.ts'
export type {
  InputSchema,
  OutputSchema,
  RetrievalArguments,
  RetrievalInput,
  RetrievalOutput,
  Source,
} from './retrieval/input.ts'
export {
  createMemoryVectorStore,
  type MemorySnapshot,
  type MemoryVectorStore,
} from './retrieval/memory-store.ts'
export type { ModelName } from './retrieval/named-model.ts'
export type {
  DatabaseConfig,
  RequestValues,
  RetrievalCaller,
  RetrievalOptions,
  VectorStoreResolver,
} from './retrieval/options.ts'
export { provideRetrieval, type RetrievalValues } from './retrieval/provide.ts'
export type {
  RelevanceScorer,
  RerankerConfig,
  RerankerOptions,
  RerankFunction,
  RerankModel,
} from './retrieval/rerank.ts'
export {
  type CreateIndexParams,
  type IndexStats,
  type Metric,
  type QueryParams,
  type QueryResult,
  type SearchableStore,
  type UpsertParams,
  type VectorStore,
  VectorStoreError,
} from './retrieval/store.ts'
export { type ChromaOptions, type ChromaQueryParams, chromaVector } from './retrieval/stores/chroma.ts'
export type { HttpStoreOptions } from './retrieval/stores/http.ts'
export {
  type LibSqlClient,
  type LibSqlOptions,
  type LibSqlQueryParams,
  libSqlVector,
} from './retrieval/stores/libsql.ts'
export type { QueryingClient, RunSql, UnsafeClient } from './retrieval/stores/pg-client.ts'
export { type PgVectorOptions, type PgVectorQueryParams, pgVector } from './retrieval/stores/pgvector.ts'
export {
  type PineconeOptions,
  type PineconeQueryParams,
  pineconeVector,
} from './retrieval/stores/pinecone.ts'
export { type QdrantOptions, type QdrantQueryParams, qdrantVector } from './retrieval/stores/qdrant.ts'
export { type UpstashOptions, type UpstashQueryParams, upstashVector } from './retrieval/stores/upstash.ts'
export {
  type VectorizeBinding,
  type VectorizeQueryParams,
  vectorizeVector,
} from './retrieval/stores/vectorize.ts'
export {
  createVectorQueryTool,
  type RetrievalTool,
  type VectorQueryToolOptions,
} from './retrieval/vector-query-tool.ts'
