/**
 * Fetches JSON from an authorization server, with limits for time and size.
 */
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
  { fetch = globalThis.fetch, init = {} }: FetchJsonOptions = {},
): Promise<Record<string, unknown>> {
  try {
    // Redirects are not followed: the request may contain credentials. Some platforms do not support `error` here.
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    })
    if (response.status !== 200) {
      void response.body?.cancel().catch(() => {})
      throw new StatusError(response.status)
    }
    const value: unknown = JSON.parse(await readText(response))
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

/** Reads the body, up to 256 KiB. */
async function readText(response: Response): Promise<string> {
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
      throw new Error(`more than ${MAX_BYTES} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
