/**
 * Fetches JSON from an authorization server, with limits for time and size.
 */
import { boundedFetch } from '../definition/bounded-fetch.ts'
import { isA, memberOf, textOf } from '../definition/error-text.ts'
import { VerifierUnavailableError } from './verifier.ts'

export interface FetchJsonOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly init?: RequestInit
}

/** Milliseconds for one request. */
export const ASK_TIMEOUT_MS = 5000
const MAX_BYTES = 256 * 1024

class StatusError extends Error {
  readonly status: number
  constructor(status: number) {
    super(`status ${status}`)
    this.status = status
  }
}

/** @throws VerifierUnavailableError for any response other than a JSON object with status 200. */
export async function fetchJson(
  url: string,
  { fetch, init = {} }: FetchJsonOptions = {},
): Promise<Record<string, unknown>> {
  try {
    // Redirects are not followed: the request may contain credentials.
    const { status, text } = await boundedFetch(url, init, {
      fetch,
      timeoutMs: ASK_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      isRead: (status) => status === 200,
    })
    if (status !== 200) throw new StatusError(status)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no JSON object')
    return value as Record<string, unknown>
  } catch (cause) {
    throw new VerifierUnavailableError(`${url} cannot be used: ${textOf(cause)}`, { cause })
  }
}

/** Whether the issuer refused this request in particular, and may answer others. */
export function isAboutQuestion(error: unknown): boolean {
  const cause = memberOf(error, 'cause')
  return isA(cause, StatusError) && [400, 413, 422].includes(cause.status)
}
