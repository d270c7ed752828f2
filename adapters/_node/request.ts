/** The request that a Node listener hands on, also from within an Express app that has changed it. */
import type { IncomingMessage } from 'node:http'

/** What is used of Node's request, and what Express and its body parsers add. */
interface ExpressRequest extends Pick<IncomingMessage, 'readableDidRead'> {
  /** As the client sent it; `url` is without the path that a router is mounted at. */
  readonly originalUrl?: unknown
  /** What a body parser has made of the body, which cannot be read again. */
  readonly body?: unknown
}

/** `request` is what `@hono/node-server` makes of it: a look-alike that `new Request(it)` refuses. */
export function toRequest(request: Request, incoming: ExpressRequest): Request {
  const { originalUrl, body } = incoming
  const url = typeof originalUrl === 'string' ? new URL(request.url).origin + originalUrl : request.url
  if (!isParsed(incoming)) return new Request(url, request)
  const { method, signal } = request
  // No Request of these methods has one (Fetch standard).
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const headers = new Headers(request.headers)
  // Of the bytes that were sent; these are others.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Request(url, { method, headers, signal, ...(hasBody && { body: toText(body) }) })
}

/** Whether Node's request still is as Node has made it. */
export function isUntouched(incoming: ExpressRequest): boolean {
  return incoming.originalUrl === undefined && !isParsed(incoming)
}

/** A real request without its body, which is read already. */
export function withoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal })
}

function isParsed({ body, readableDidRead }: ExpressRequest): boolean {
  return body !== undefined && readableDidRead
}

function toText(body: unknown): BodyInit {
  return typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body)
}
