/** Vectorize from outside a Worker, by Cloudflare's HTTP API with the same calls as wrangler. Only what ingest needs. */
import { boundedFetch } from '../../src/definition/bounded-fetch.ts'
import { memberOf } from '../../src/definition/error-text.ts'
import {
  checkIndexName,
  toRows,
  type VectorStore,
  VectorStoreError,
  withCause,
} from '../../src/retrieval/store.ts'
import { inParts, MAX_BYTES, noIndex, toReason } from '../../src/retrieval/stores/http.ts'

export interface VectorizeHttpOptions {
  readonly accountId: string
  readonly apiToken: string
  /** Default `https://api.cloudflare.com/client/v4`. */
  readonly url?: string
  /** Milliseconds for one call. Default 60 000. */
  readonly timeoutMs?: number
}

/** The part of a store that ingest needs. */
export type IngestStore = Pick<
  VectorStore,
  'createIndex' | 'upsert' | 'deleteVectors' | 'describeIndex' | 'listIds'
>

const METRICS = { cosine: 'cosine', euclidean: 'euclidean', dotproduct: 'dot-product' } as const
const TIMEOUT_MS = 60_000
/** The limit of one call. */
const UPSERT_ROWS = 1000
const DELETE_IDS = 100
const LIST_IDS = 1000

/** Changes are queued, and visible after a few seconds. */
export function vectorizeHttp({
  accountId,
  apiToken,
  url = 'https://api.cloudflare.com/client/v4',
  timeoutMs = TIMEOUT_MS,
}: VectorizeHttpOptions): IngestStore {
  const base = `${url.replace(/\/+$/, '')}/accounts/${encodeURIComponent(accountId)}/vectorize/v2/indexes`
  const ask = async <Result>(path: string, method: 'GET' | 'POST', body?: object): Promise<Result> => {
    const isForm = body instanceof FormData
    const init = {
      method,
      redirect: 'follow' as const,
      headers: {
        authorization: `Bearer ${apiToken}`,
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    }
    const limits = { timeoutMs, maxBytes: MAX_BYTES }
    const { status, text } = await boundedFetch(`${base}${path}`, init, limits).catch((cause: unknown) => {
      throw withCause(new VectorStoreError('STORE_FAILED', `Vectorize ${toReason(cause, timeoutMs)}.`), cause)
    })
    if (status >= 200 && status < 300) return (JSON.parse(text) as { result: Result }).result
    const failure = new VectorStoreError('STORE_FAILED', `Vectorize answered with HTTP ${status}`, status)
    throw withCause(failure, text.slice(0, 500))
  }
  const askIndex = async <Result>(
    indexName: string,
    path: string,
    method: 'GET' | 'POST',
    body?: object,
  ): Promise<Result> => {
    try {
      return await ask<Result>(`/${checkIndexName(indexName)}${path}`, method, body)
    } catch (error) {
      throw memberOf(error, 'status') === 404 ? noIndex('Vectorize', indexName) : error
    }
  }

  return {
    async createIndex({ indexName, dimension, metric = 'cosine' }) {
      await ask('', 'POST', {
        name: checkIndexName(indexName),
        config: { dimensions: dimension, metric: METRICS[metric] },
      })
    },
    async upsert(params) {
      const rows = toRows(params)
      for (const part of inParts(rows, UPSERT_ROWS)) {
        const lines = part.map(({ id, vector, metadata }) => JSON.stringify({ id, values: vector, metadata }))
        const form = new FormData()
        form.append(
          'vectors',
          new File([lines.join('\n')], 'vectors.ndjson', { type: 'application/x-ndjson' }),
        )
        await askIndex(params.indexName, '/upsert', 'POST', form)
      }
      return rows.map(({ id }) => id)
    },
    async deleteVectors({ indexName, ids }) {
      for (const part of inParts(ids, DELETE_IDS))
        await askIndex(indexName, '/delete_by_ids', 'POST', { ids: part })
    },
    async describeIndex({ indexName }) {
      const { dimensions, vectorCount } = await askIndex<{ dimensions: number; vectorCount: number }>(
        indexName,
        '/info',
        'GET',
      )
      return { dimension: dimensions, count: vectorCount }
    },
    async listIds({ indexName, prefix }) {
      const ids: string[] = []
      for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
        const query = new URLSearchParams({ count: String(LIST_IDS), ...(cursor !== '' && { cursor }) })
        const page: { vectors: { id: string }[]; isTruncated: boolean; nextCursor?: string | null } =
          await askIndex(indexName, `/list?${query}`, 'GET')
        ids.push(...page.vectors.map(({ id }) => id))
        cursor = page.isTruncated ? page.nextCursor : undefined
      }
      return ids.filter((id) => id.startsWith(prefix))
    },
  }
}
