/** Requests to a provider: one at a time limited in time and size, and never redirected, since they contain credentials. */
import { boundedFetch, FetchFault, isRedirect } from '../../definition/bounded-fetch.ts'
import { isA } from '../../definition/error-text.ts'
import { UpstreamFault } from './upstream.ts'

/** Milliseconds for one request, with its body. */
export const UPSTREAM_TIMEOUT_MS = 5000
/**
 * The same for a refresh: many providers accept a refresh token once, so that a request which is given up may have used up the connection.
 */
export const REFRESH_TIMEOUT_MS = 60_000
/** The keys of some providers are large; tokens and profiles are not. */
const MAX_BYTES = 256 * 1024

export type UpstreamFetch = (url: string, init: RequestInit) => Promise<Response>

export interface UpstreamFetchOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Default 5000. */
  readonly timeoutMs?: number | undefined
}

/**
 * Creates a `fetch` whose responses have been read already.
 *
 * @throws UpstreamFault `unreachable` without an answer in time; `answer_invalid` for a redirect or more than 256 KiB.
 */
export function createUpstreamFetch({ fetch, timeoutMs }: UpstreamFetchOptions): UpstreamFetch {
  const limitMs = timeoutMs ?? UPSTREAM_TIMEOUT_MS
  return async (url, init) => {
    const place = new URL(url).host
    try {
      const answer = await boundedFetch(url, init, { fetch, timeoutMs: limitMs, maxBytes: MAX_BYTES })
      const { status, headers, text } = answer
      if (isRedirect(status))
        throw new UpstreamFault('answer_invalid', `${place} redirects, which is not followed.`)
      const hasBody = ![204, 205].includes(status)
      return new Response(hasBody ? text : null, { status, headers })
    } catch (error) {
      if (isA(error, UpstreamFault)) throw error
      const reason = isA(error, FetchFault) ? error.reason : 'unreachable'
      if (reason === 'too-large')
        throw new UpstreamFault('answer_invalid', `${place} sent more than ${MAX_BYTES} bytes.`)
      const what = reason === 'too-late' ? `did not answer within ${limitMs} ms` : 'cannot be reached'
      throw new UpstreamFault('unreachable', `${place} ${what}.`)
    }
  }
}
