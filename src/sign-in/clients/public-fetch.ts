/**
 * Requests to URLs that strangers choose, such as a client's metadata document (MCP 2026-07-28, "Security Best Practices", server-side
 * request forgery): only https on the default port, to public names, a few redirects that are checked as well, little data, little time.
 * A name that resolves to a private address cannot be seen here; its server would need a certificate for the name.
 */
import { withTimeout } from '../../definition/timeout.ts'
import { parseHost } from '../../request/address.ts'

const MAX_REDIRECTS = 3
/** Of a client's metadata document, as the IETF's draft says. */
const MAX_BYTES = 5120
const TIMEOUT_MS = 5000

/** The URL must not be requested, or what it answers is not usable. */
export class RefusedUrlError extends Error {
  override readonly name = 'RefusedUrlError'
}

/** The server does not answer, or with a status that says that it may later. */
export class UnreachableUrlError extends Error {
  override readonly name = 'UnreachableUrlError'
}

export interface FetchedDocument {
  readonly value: unknown
  readonly cacheControl: string
}

/** Several labels, the last of which begins with a letter: neither an address nor a name without a domain. */
const NAME = /^(?:[\w-]+\.)+[a-z][\w-]*\.?$/

/** Not in the public DNS (RFC 6761, RFC 7686, RFC 9476), or names of services in a cluster. */
const RESERVED = /\.(?:test|invalid|onion|alt|svc|consul)\.?$/

/** Whether a URL may be requested although a stranger chose it. */
export function isPublicUrl(url: URL): boolean {
  const { protocol, port, username, password, hostname } = url
  if (protocol !== 'https:' || port !== '' || username !== '' || password !== '') return false
  return NAME.test(hostname) && !RESERVED.test(hostname) && parseHost(hostname)?.reach === 'public'
}

/** @throws RefusedUrlError or UnreachableUrlError. */
export async function fetchPublicJson(
  start: string,
  fetch: typeof globalThis.fetch,
  maxBytes = MAX_BYTES,
): Promise<FetchedDocument> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let url = new URL(start)
  for (let redirects = 0; ; redirects++) {
    if (!isPublicUrl(url)) throw new RefusedUrlError(`${url.origin} is not a public https address`)
    const response = await ask(url, fetch, signal)
    const location = response.headers.get('location')
    if (response.status >= 300 && response.status < 400 && location !== null) {
      void response.body?.cancel().catch(() => {})
      if (redirects === MAX_REDIRECTS || !URL.canParse(location, url.href))
        throw new RefusedUrlError('it redirects too often, or to no URL')
      url = new URL(location, url)
      continue
    }
    if (response.status !== 200) {
      void response.body?.cancel().catch(() => {})
      const { status } = response
      const isPassing = status >= 500 || status === 429 || status === 408
      throw new (isPassing ? UnreachableUrlError : RefusedUrlError)(`it answers with status ${status}`)
    }
    const text = await readText(response, signal, maxBytes)
    try {
      return { value: JSON.parse(text), cacheControl: response.headers.get('cache-control') ?? '' }
    } catch {
      throw new RefusedUrlError('it is not JSON')
    }
  }
}

async function ask(url: URL, fetch: typeof globalThis.fetch, signal: AbortSignal): Promise<Response> {
  try {
    const asked = fetch(url.href, { redirect: 'manual', signal, headers: { accept: 'application/json' } })
    return await withTimeout(asked, TIMEOUT_MS, url.host)
  } catch (cause) {
    throw new UnreachableUrlError('it does not answer', { cause })
  }
}

async function readText(response: Response, signal: AbortSignal, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new UnreachableUrlError('it takes too long')))
  })
  ended.catch(() => {})
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await Promise.race([
      reader.read().catch((cause) => {
        throw new UnreachableUrlError('its answer breaks off', { cause })
      }),
      ended,
    ])
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => {})
      throw new RefusedUrlError(`it is over ${maxBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
