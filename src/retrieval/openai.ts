/** Requests to OpenAI's API, or to one with its shape at `OPENAI_BASE_URL`. */
import { boundedFetch } from '../definition/bounded-fetch.ts'
import type { Env } from '../definition/context.ts'

const TIMEOUT_MS = 30_000
/** An answer has up to 2048 embeddings, of about 70 KB each. */
const MAX_BYTES = 256 * 1024 * 1024
const OPENAI_URL = 'https://api.openai.com/v1'

export interface OpenAiCall {
  readonly env: Env
  readonly signal?: AbortSignal | undefined
}

/**
 * Posts `body` and returns the answer.
 *
 * @param what The model, for errors. @throws Error made by `failed`, with the HTTP status of a refusal.
 */
export async function askOpenAi(
  path: 'embeddings' | 'chat/completions',
  body: object,
  { env, signal }: OpenAiCall,
  what: string,
  failed: (message: string, status?: number) => Error,
): Promise<unknown> {
  const key = env.OPENAI_API_KEY
  if (typeof key !== 'string' || key === '')
    throw failed(`${what} needs a key: set OPENAI_API_KEY on this deployment.`)
  const base = typeof env.OPENAI_BASE_URL === 'string' ? env.OPENAI_BASE_URL.replace(/\/+$/, '') : OPENAI_URL
  const init = {
    method: 'POST',
    redirect: 'follow' as const,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal }
  const { status, text } = await boundedFetch(`${base}/${path}`, init, limits)
  if (status < 200 || status > 299) throw failed(`${what} answered with HTTP ${status}.`, status)
  return JSON.parse(text)
}
