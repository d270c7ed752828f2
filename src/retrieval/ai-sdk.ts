/** The used members of the AI SDK's models. */

export interface ProviderOptions {
  readonly [provider: string]: { readonly [option: string]: unknown }
}

/** An embedding model of the AI SDK, such as `openai.embedding('text-embedding-3-small')`. */
export interface AiSdkEmbeddingModel {
  readonly maxEmbeddingsPerCall?: number | undefined | PromiseLike<number | undefined>
  doEmbed(options: {
    values: string[]
    abortSignal?: AbortSignal
    providerOptions?: ProviderOptions
  }): PromiseLike<{ embeddings: readonly (readonly number[])[] }>
}

/** A reranking model of the AI SDK, such as `cohere.reranking('rerank-v3.5')`. */
export interface AiSdkRerankingModel {
  doRerank(options: {
    documents: { type: 'text'; values: string[] }
    query: string
    topN?: number
    abortSignal?: AbortSignal
  }): PromiseLike<{ ranking: readonly { index: number; relevanceScore: number }[] }>
}

/** A language model of the AI SDK, which is asked for a number per passage. */
export interface AiSdkLanguageModel {
  doGenerate(options: object): PromiseLike<{ content: readonly unknown[] }>
}
