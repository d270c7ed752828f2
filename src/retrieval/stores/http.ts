/**
 * Calls to the HTTP API of a store.
 */
import { boundedFetch, FetchFault } from '../../definition/bounded-fetch.ts'
import { isA } from '../../definition/error-text.ts'
import { VectorStoreError, withCause } from '../store.ts'

/** Bytes of an answer. */
export const MAX_BYTES = 64 * 1024 * 1024

export interface HttpStoreOptions {
  /** Milliseconds for one call. Default 30 000. */
  readonly timeoutMs?: number
}

export interface HttpCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
}

/** Calls one store, and resolves with the parsed body. */
export type CallStore = <Body>(url: string, call?: HttpCall) => Promise<Body>

/**
 * Creates the function that calls a store. A store's error message becomes the `cause`, for the operator's log, since it may quote the
 * request.
 */
export function createCall(
  store: string,
  headers: { readonly [name: string]: string },
  { timeoutMs = 30_000 }: HttpStoreOptions,
): CallStore {
  return async (url, { method = 'POST', body } = {}) => {
    const init = {
      method,
      redirect: 'follow' as const,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const { status, text } = await boundedFetch(url, init, { timeoutMs, maxBytes: MAX_BYTES }).catch(
      (cause) => {
        throw withCause(
          new VectorStoreError('STORE_FAILED', `${store} ${toReason(cause, timeoutMs)}.`),
          cause,
        )
      },
    )
    if (status >= 200 && status < 300) return JSON.parse(text) as never
    throw withCause(
      new VectorStoreError('STORE_FAILED', `${store} answered with HTTP ${status}.`, status),
      text.slice(0, 500),
    )
  }
}

/** Why there is no answer, as the end of a sentence that names the store. */
export function toReason(cause: unknown, timeoutMs: number): string {
  const reason = isA(cause, FetchFault) ? cause.reason : 'unreachable'
  if (reason === 'too-late') return `did not answer within ${timeoutMs} ms`
  return reason === 'too-large' ? `sent more than ${MAX_BYTES} bytes` : 'cannot be reached'
}

/** The base URL, without a trailing slash. @throws TypeError for an invalid URL. */
export function toBase(store: string, url: string): string {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new TypeError(`"url" of ${store} must be an http or https URL.`)
  return url.replace(/\/+$/, '')
}

/** @throws TypeError naming a missing option. */
export function requireText(store: string, options: { readonly [option: string]: string | undefined }): void {
  for (const [option, value] of Object.entries(options))
    if (typeof value !== 'string' || value === '') throw new TypeError(`${store} needs "${option}".`)
}

export function inParts<Value>(values: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    values.slice(at * size, (at + 1) * size),
  )
}

/** Removes results with a lower score, for stores that cannot filter by score. */
export function withMinScore<Result extends { readonly score: number }>(
  results: Result[],
  minScore: number | undefined,
): Result[] {
  return minScore === undefined ? results : results.filter(({ score }) => score >= minScore)
}

/** The error for an index that a store does not have (404). */
export function isMissing(error: unknown): boolean {
  return isA(error, VectorStoreError) && error.status === 404
}

/** For `catch`: returns undefined if the index does not exist, and rethrows other errors. */
export function orNoIndex(error: unknown): undefined {
  if (isA(error, VectorStoreError) && error.code === 'NO_INDEX') return undefined
  throw error
}

export function noIndex(store: string, indexName: string): VectorStoreError {
  return new VectorStoreError(
    'NO_INDEX',
    `Index "${indexName}" does not exist in ${store}: create it, or ingest into it.`,
  )
}
