/** A page by its URL. */
import { printable } from '../terminal/cli-error.ts'
import { checkBytes, toText } from './text.ts'

export interface Page {
  /** The `content-type`, in lower case. */
  readonly type: string
  readonly text: string
}

const TIMEOUT_MS = 30_000
const MAX_REDIRECTS = 5

/** Throws `Error` for a page that cannot be read or has no text. */
export async function fetchPage(url: string): Promise<Page> {
  const response = await follow(url, AbortSignal.timeout(TIMEOUT_MS))
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const type = (response.headers.get('content-type') ?? '').toLowerCase()
  if (!/^(text\/|application\/xhtml)|^$/.test(type)) throw new Error(`it is ${type}, which has no text`)
  const bytes = await readBytes(response)
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/.exec(type)?.[1] ?? declared(bytes)
  return { type, text: toText(bytes, charset) }
}

/**
 * Follows redirects only on the same host. Otherwise a page could make this machine read an address that only it can reach, such as a
 * cloud's credentials, into an index that others search.
 */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  let at = new URL(url)
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await fetch(at, { redirect: 'manual', signal })
    const location = response.headers.get('location')
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response
    await response.body?.cancel()
    if (!URL.canParse(location, at)) throw new Error('it redirects to an invalid URL')
    const next = new URL(location, at)
    const isSecure = next.protocol === 'https:'
    if (next.protocol !== at.protocol && !isSecure) throw new Error(`it redirects to ${next.protocol}`)
    const isSameHost = next.hostname === at.hostname && (next.port === at.port || isSecure)
    if (!isSameHost)
      throw new Error(`it redirects to another host: pass ${printable(next.href.slice(0, 200))} itself`)
    at = next
  }
  throw new Error(`it redirects over ${MAX_REDIRECTS} times`)
}

/** In the first kilobyte, as HTML requires. */
function declared(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 1024))
  return /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1]
}

async function readBytes(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let count = 0
  for await (const part of response.body ?? []) {
    count += part.length
    checkBytes(count)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
