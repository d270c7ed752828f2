/**
 * The one place that asks another server: limited in time and size, with its body read. A timer of a request that is over must not fire any
 * more: on Node, `AbortSignal.timeout` ends the process if `fetch` has failed before while the body is still open.
 */
import { decodingLimit } from './decoding-limit.ts'
import { isA, textOf } from './error-text.ts'

export interface FetchLimits {
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds, until the end of the body. */
  readonly timeoutMs: number
  /** Bytes of the decoded body. */
  readonly maxBytes: number
  /** Whether a longer body ends there, instead of being refused. Default false. */
  readonly isCut?: boolean
  /** Ends the request, which then rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Which bodies are read. Default: all but those of redirects. */
  readonly isRead?: (status: number) => boolean
}

export interface FetchedAnswer {
  /** 0 for a redirect that the platform hides. */
  readonly status: number
  readonly headers: Headers
  /** Empty if the body was not read. */
  readonly text: string
}

export type FetchFaultReason = 'too-large' | 'too-late' | 'unreachable'

/** There is no complete answer. */
export class FetchFault extends Error {
  override readonly name = 'FetchFault'
  readonly reason: FetchFaultReason

  constructor(reason: FetchFaultReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Whether the answer is a redirect. Some platforms hide its status. */
export function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400)
}

/**
 * Sends a request, and reads its answer as text. Redirects are not followed unless `init.redirect` says so.
 *
 * @throws FetchFault, or the reason of `signal`.
 */
export async function boundedFetch(
  url: string,
  init: RequestInit,
  limits: FetchLimits,
): Promise<FetchedAnswer> {
  const { timeoutMs, signal: outer } = limits
  const own = new AbortController()
  const over = new Promise<never>((_resolve, reject) => {
    own.signal.addEventListener('abort', () => reject(own.signal.reason), { once: true })
  })
  const end = (reason: unknown) => own.abort(reason)
  const stop = () => end(outer?.reason)
  const timer = setTimeout(
    () => end(new FetchFault('too-late', `no complete answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  outer?.addEventListener('abort', stop, { once: true })
  if (outer?.aborted) stop()
  try {
    return await Promise.race([over, ask(url, init, limits, own.signal)])
  } catch (error) {
    if (own.signal.aborted) throw own.signal.reason
    throw isA(error, FetchFault) ? error : new FetchFault('unreachable', textOf(error), { cause: error })
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}

async function ask(
  url: string,
  init: RequestInit,
  { fetch: given, isRead = (status) => !isRedirect(status), ...limits }: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedAnswer> {
  signal.throwIfAborted()
  // Called as a function: some platforms' own `fetch` fails with another `this`.
  const send = given ?? fetch
  const response = await send(url, { redirect: 'manual', ...init, ...decodingLimit(init), signal })
  const { headers, status } = response
  // A `fetch` that was passed may not know signals.
  if (signal.aborted || !isRead(status)) {
    void response.body?.cancel().catch(() => {})
    return { status, headers, text: '' }
  }
  return { status, headers, text: await readText(response, limits, signal) }
}

async function readText(
  response: Response,
  { maxBytes, isCut = false }: Pick<FetchLimits, 'maxBytes' | 'isCut'>,
  signal: AbortSignal,
): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader()
  if (reader === undefined) return ''
  const cancel = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) {
      cancel()
      if (isCut) return text
      throw new FetchFault('too-large', `more than ${maxBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
