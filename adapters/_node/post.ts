/**
 * An ordinary POST of a Node listener, without Node's `Request` and without `@hono/node-server`: loading both takes as much CPU of a fresh
 * process as all else of a first call. Whatever they would change, join or refuse is left to them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PlainPost } from '../_fetch/plain-post.ts'
import { isUntouched } from './request.ts'

/** A path and a query that the URL standard leaves unchanged. */
const PATH = /^\/[\w/?=&-]*$/

/** A host that it leaves unchanged, also in what `@hono/node-server` makes of it: neither in capitals nor with a default port. */
const HOST = /^[a-z\d.-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/

/** What a `Headers` could change or refuse. */
const UNUSUAL = /[^\t -~]/

/** Larger ones are left to the others. */
const MAX_BYTES = 65_536

/** Milliseconds that a client has for the rest of its body once it has its answer, as with `@hono/node-server`. */
const REST_MS = 500

/** Undefined for all but an ordinary POST that nobody has read. */
export function toPost(incoming: IncomingMessage, outgoing: ServerResponse): PlainPost | undefined {
  const { method, url = '', httpVersionMajor } = incoming
  if (method !== 'POST' || httpVersionMajor !== 1 || !PATH.test(url)) return undefined
  if (!isUntouched(incoming) || isBeingRead(incoming)) return undefined
  const headers = headersOf(incoming.rawHeaders)
  const length = Number(headers?.get('content-length'))
  const host = headers?.get('host')
  if (headers === undefined || host === undefined || !HOST.test(host)) return undefined
  if (!(length > 0 && length <= MAX_BYTES)) return undefined
  const scheme = Reflect.get(incoming.socket, 'encrypted') === true ? 'https' : 'http'
  return new PlainPost(`${scheme}://${host}${url}`, headers, {
    read: () => readBody(incoming),
    toBody: () => streamOf(incoming),
    toSignal: () => signalOf(outgoing),
  })
}

/** Closes the connection if the body of a request that was answered does not arrive. */
export function endBody(incoming: IncomingMessage): void {
  if (incoming.complete) return
  const end = (): void => {
    if (!incoming.complete) incoming.socket.destroySoon()
  }
  setTimeout(end, REST_MS).unref()
}

/** Also `rawBody`: some hosts have read the body before, and leave it there. */
function isBeingRead(incoming: IncomingMessage): boolean {
  return (
    incoming.readableDidRead ||
    incoming.readableFlowing !== null ||
    incoming.readableEncoding !== null ||
    incoming.destroyed ||
    'rawBody' in incoming
  )
}

/** Undefined if only a `Headers` can represent them: such as one that is sent twice. */
function headersOf(raw: readonly string[]): Map<string, string> | undefined {
  if (UNUSUAL.test(raw.join())) return undefined
  const headers = new Map<string, string>()
  for (let at = 0; at < raw.length; at += 2) headers.set(raw[at]!.toLowerCase(), raw[at + 1]!)
  return headers.size * 2 === raw.length ? headers : undefined
}

/** Rejects if the client leaves before it has sent all. */
function readBody(incoming: IncomingMessage): Promise<ArrayBuffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk))
    incoming.on('end', () => {
      const { buffer, byteOffset, byteLength } = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      resolve(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
    })
    incoming.on('error', reject)
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(new Error('The client left before it had sent the body.'))
    })
  })
}

/** For a real `Request`. */
function streamOf(incoming: IncomingMessage): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(await readBody(incoming)))
      controller.close()
    },
  })
}

/** Aborts when the client disconnects. */
function signalOf(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const leave = (): void => {
    if (!outgoing.writableFinished) controller.abort()
  }
  if (outgoing.closed) leave()
  else outgoing.once('close', leave)
  return controller.signal
}
