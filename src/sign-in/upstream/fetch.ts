/** Requests to a provider: one at a time limited in time and size, and never redirected, since they contain credentials. */
import { isA } from '../../definition/error-text.ts'
import { withTimeout } from '../../definition/timeout.ts'
import { UpstreamFault } from './upstream.ts'

/** Milliseconds for one request, with its body. */
export const UPSTREAM_TIMEOUT_MS = 5000
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
export function createUpstreamFetch({ fetch: given, timeoutMs }: UpstreamFetchOptions): UpstreamFetch {
  const limitMs = timeoutMs ?? UPSTREAM_TIMEOUT_MS
  return async (url, init) => {
    const place = new URL(url).host
    // Called as a function: some platforms' own `fetch` fails with another `this`.
    const send = given ?? fetch
    const signal = AbortSignal.timeout(limitMs)
    const ask = async (): Promise<Response> => {
      const response = await send(url, { ...init, redirect: 'manual', signal })
      const { status } = response
      if (response.type === 'opaqueredirect' || status === 0 || (status >= 300 && status < 400)) {
        void response.body?.cancel().catch(() => {})
        throw new UpstreamFault('answer_invalid', `${place} redirects, which is not followed.`)
      }
      const text = await readBody(response, place)
      const hasBody = ![204, 205].includes(status)
      return new Response(hasBody ? text : null, { status, headers: response.headers })
    }
    try {
      // A `fetch` that was passed may not know signals.
      return await withTimeout(ask(), limitMs + 50, place)
    } catch (error) {
      if (isA(error, UpstreamFault)) throw error
      const reason = signal.aborted ? `did not answer within ${limitMs} ms` : 'cannot be reached'
      throw new UpstreamFault('unreachable', `${place} ${reason}.`)
    }
  }
}

async function readBody(response: Response, place: string): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MAX_BYTES) {
      void reader.cancel().catch(() => {})
      throw new UpstreamFault('answer_invalid', `${place} sent more than ${MAX_BYTES} bytes.`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
