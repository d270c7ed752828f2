/** Converts the request of a Node listener, including inside an Express app that changed it. */
import type { IncomingMessage } from 'node:http'

/** The members of Node's request that are used here, and those that Express and its body parsers add. */
interface ExpressRequest extends Pick<IncomingMessage, 'readableDidRead'> {
  /** The URL as the client sent it; `url` lacks the path that a router is mounted at. */
  readonly originalUrl?: unknown
  /** The result of a body parser; the body itself cannot be read again. */
  readonly body?: unknown
}

/** `request` is the substitute of `@hono/node-server`, which `new Request(request)` refuses. */
export function toRequest(request: Request, incoming: ExpressRequest): Request {
  const { originalUrl, body } = incoming
  const url = typeof originalUrl === 'string' ? new URL(request.url).origin + originalUrl : request.url
  if (!isParsed(incoming)) return new Request(url, request)
  const { method, signal } = request
  // A Request with these methods cannot have a body (Fetch standard).
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const headers = new Headers(request.headers)
  // These headers describe the original bytes; the body is serialized again.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Request(url, { method, headers, signal, ...(hasBody && { body: toText(body) }) })
}

/** The URL of a request, of which the path and the query are the client's. Undefined unless its target is a path (RFC 9112 §3.2.1). */
export function urlOf({ url }: Pick<IncomingMessage, 'url'>): URL | undefined {
  // Not resolved against a base: `//` would name a host.
  return url?.startsWith('/') ? new URL(`http://localhost${url}`) : undefined
}

/** Whether the host has not changed Node's request. */
export function isUntouched(incoming: ExpressRequest): boolean {
  return incoming.originalUrl === undefined && !isParsed(incoming)
}

/** A real Request without the body, which was already read. */
export function withoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal })
}

function isParsed({ body, readableDidRead }: ExpressRequest): boolean {
  return body !== undefined && readableDidRead
}

function toText(body: unknown): BodyInit {
  return typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body)
}
