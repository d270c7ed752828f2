/**
 * The URL of a request. The runtime makes it from the Host and the target, which the client chooses; if they are not valid, Deno throws
 * when it is read, and on Bun it is only the target.
 */

/** Cache of URLs that can be read: a deployment has few, and parsing one takes several microseconds on Deno. */
const readable = new Set<string>()
const MAX_READABLE = 100
const MAX_CHARACTERS = 200

/** Whether the URL of a request can be read. */
export function hasUrl(request: Request): boolean {
  try {
    const { url } = request
    if (readable.has(url)) return true
    if (!URL.canParse(url)) return false
    if (readable.size >= MAX_READABLE) readable.clear()
    if (url.length <= MAX_CHARACTERS) readable.add(url)
    return true
  } catch {
    return false
  }
}

/** The path of a request, for a log. Empty if its URL cannot be read. */
export function pathOf(request: Request): string {
  try {
    return new URL(request.url).pathname
  } catch {
    return ''
  }
}

/** A Request with these methods cannot be made (Fetch standard, "forbidden method"), but a runtime may pass one on. */
const FORBIDDEN_METHOD = /^(?:CONNECT|TRAC[EK])$/i

/** The same request for another URL; unchanged if its method is one that no Request may have. */
export function withUrl(request: Request, url: string | URL): Request {
  return FORBIDDEN_METHOD.test(request.method) ? request : new Request(url, request)
}
