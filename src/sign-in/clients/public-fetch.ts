/**
 * Requests to URLs that strangers choose, such as a client's metadata document (MCP 2026-07-28, "Security Best Practices", server-side
 * request forgery): only https on the default port, to public names, without redirects, little data, little time. A redirect would let
 * another host speak for the one in the URL (draft-ietf-oauth-client-id-metadata-document-02 §5: 200 only, none is followed).
 * A name that resolves to a private address cannot be seen here; its server would need a certificate for the name.
 */
import {
  boundedFetch,
  type FetchedAnswer,
  FetchFault,
  type FetchLimits,
  isRedirect,
} from '../../definition/bounded-fetch.ts'
import { isA } from '../../definition/error-text.ts'
import { isJsonOfAnyType } from '../../http/content-type.ts'
import { isPublicName } from '../../request/public-name.ts'

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

/** Whether a URL may be requested although a stranger chose it. */
export function isPublicUrl(url: URL): boolean {
  const { protocol, port, username, password, hostname } = url
  if (protocol !== 'https:' || port !== '' || username !== '' || password !== '') return false
  return isPublicName(hostname)
}

/** @throws RefusedUrlError or UnreachableUrlError. */
export async function fetchPublicJson(
  start: string,
  fetch: typeof globalThis.fetch,
  maxBytes = MAX_BYTES,
): Promise<FetchedDocument> {
  const url = new URL(start)
  if (!isPublicUrl(url)) throw new RefusedUrlError(`${url.origin} is not a public https address`)
  const { status, headers, text } = await ask(url, { fetch, maxBytes, timeoutMs: TIMEOUT_MS })
  if (status !== 200) {
    const isPassing = status >= 500 || status === 429 || status === 408
    const what = isRedirect(status)
      ? 'it redirects, which is not followed'
      : `it answers with status ${status}`
    throw new (isPassing ? UnreachableUrlError : RefusedUrlError)(what)
  }
  // Who may upload a file or a picture to a host does not speak for it.
  if (!isJsonOfAnyType(headers.get('content-type')))
    throw new RefusedUrlError('it is not served as application/json')
  try {
    return { value: JSON.parse(text), cacheControl: headers.get('cache-control') ?? '' }
  } catch {
    throw new RefusedUrlError('it is not JSON')
  }
}

async function ask(url: URL, limits: FetchLimits): Promise<FetchedAnswer> {
  try {
    const init = { headers: { accept: 'application/json' } }
    return await boundedFetch(url.href, init, { ...limits, isRead: (status) => status === 200 })
  } catch (cause) {
    if (isA(cause, FetchFault) && cause.reason === 'too-large')
      throw new RefusedUrlError(`it is over ${limits.maxBytes} bytes`)
    throw new UnreachableUrlError('it does not answer', { cause })
  }
}
