/**
 * The request and response of a Node handler, from `fetch-to-node`, with what frameworks expect besides: members that survive another
 * prototype, a socket, backpressure, and `close`. It needs Node's streams, so it is loaded at the first request.
 */
import { FetchIncomingMessage, FetchServerResponse, toReqRes } from 'fetch-to-node'
import { ClientGone } from './client-gone.ts'
import { NodeBody } from './node-body.ts'
import { createNodeSocket } from './node-socket.ts'
import { NotPassedOn } from './not-passed-on.ts'
import { membersOf, override } from './pinned.ts'

export interface NodeExchange {
  readonly req: FetchIncomingMessage
  readonly res: FetchServerResponse
  /** Resolves when the handler has sent its headers. Rejects for what a `Response` cannot carry. */
  readonly response: Promise<Response>
  /** Rejects if the handler gives up its response before the end. */
  readonly broken: Promise<never>
  /** Breaks it, unless its response has ended. */
  fail(error: unknown): void
  /** The client has disconnected, or no longer reads. */
  leave(): void
}

/** Members of the response that its users do not see as public. */
interface Inner {
  _header: string
  _headerSent: boolean
  _closed: boolean
  _dumped: boolean
  _hasBody: boolean
  _sent100: boolean
}

type Encoding = string | null | undefined
type Done = (error?: Error) => void

const superOf = (object: object): object => Object.getPrototypeOf(object) as object

/** Their classes', up to those of streams. */
const requestMembers = (): PropertyDescriptorMap =>
  membersOf(FetchIncomingMessage.prototype, superOf(FetchIncomingMessage.prototype))
const responseMembers = (): PropertyDescriptorMap =>
  membersOf(FetchServerResponse.prototype, superOf(superOf(FetchServerResponse.prototype)))

/** Headers of one connection (RFC 9110 §7.6.1): the platform writes its own. */
const FRAMING = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const nothing = (): void => {}

/** @param address That of the client, if the platform reports it. */
export function createNodeExchange(request: Request, address: string | undefined): NodeExchange {
  const req = new FetchIncomingMessage()
  // A response to HEAD has no body, which is decided when it is made.
  req.method = request.method
  const res = new FetchServerResponse(req as never)
  toReqRes(request, { createIncomingMessage: () => req as never, createServerResponse: () => res as never })
  const url = new URL(request.url)
  addHeaders(req, request, url)
  const socket = createNodeSocket(address, url.protocol === 'https:')
  let breakIt!: (error: unknown) => void
  const broken = new Promise<never>((_resolve, reject) => {
    breakIt = reject
  })
  broken.catch(nothing)
  let begin!: (response: Response) => void
  const response = new Promise<Response>((resolve) => {
    begin = resolve
  })
  const inner = res as unknown as Inner
  let isClosed = false
  let isFinished = false

  const close = (reason: Error): void => {
    if (isClosed) return
    isClosed = true
    if (!isFinished) {
      breakIt(reason)
      body.fail(reason)
      if (!req.destroyed) req.destroy(req.complete ? undefined : aborted())
    } else if (!req.complete) req._dump()
    override(res, { destroyed: true })
    inner._closed = true
    res.emit('close')
    socket.destroy()
  }
  const leave = (): void => close(new ClientGone())
  const fail = (error: unknown): void => {
    if (res.writableEnded) return
    breakIt(error)
    // Who reads the body learns that it is not whole, not why.
    close(new Error('The response ended early.'))
  }
  // As node:http, which destroys the socket of a request that was not read to its end.
  req.once('aborted', () => fail(req.errored ?? new Error('The handler destroyed its request.')))
  const body = new NodeBody(() => res.emit('drain'), leave)
  socket.on('error', fail)
  socket.once('close', () => fail(new Error('The handler destroyed the socket of its response.')))

  const toBytes = (data: string | Uint8Array, encoding: Encoding): Uint8Array =>
    res.dataFromDataWrittenEvent({ index: 1, entry: { data, encoding } } as never)
  const send = (data: string | Uint8Array, encoding?: Encoding, done?: Done | null): boolean => {
    if (!inner._headerSent) {
      inner._headerSent = true
      try {
        begin(toResponse(inner, body.stream))
      } catch (error) {
        fail(error)
      }
    }
    const bytes = inner._hasBody ? toBytes(data, encoding) : new Uint8Array()
    // A copy: after `done` the handler may reuse its buffer, while these bytes still wait for their reader.
    return body.write(typeof data === 'string' ? bytes : new Uint8Array(bytes), done ?? undefined)
  }

  Object.defineProperties(req, requestMembers())
  Object.defineProperties(res, responseMembers())
  override(req, { socket, connection: socket })
  override(res, {
    socket,
    connection: socket,
    // node:http has no such state for its responses.
    _writableState: undefined,
    writable: true,
    destroyed: false,
    _send: send,
    // Interim responses, such as early hints: there is no place for them in a `Response`.
    _writeRaw: (_data: unknown, encoding: Encoding | Done, done?: Done) => {
      const written = typeof encoding === 'function' ? encoding : done
      if (written) queueMicrotask(written)
      return true
    },
    // The stream passes on what is written together by itself.
    cork: nothing,
    uncork: nothing,
    _writtenDataBuffer: body,
    destroy: (error?: Error) => {
      fail(error ?? new Error('The handler destroyed its response.'))
      return res
    },
  })
  Object.defineProperty(res, 'writableNeedDrain', { get: () => body.writableNeedDrain, configurable: true })
  res.once('finish', () => {
    isFinished = true
    body.end()
    // After the listeners of the handler.
    queueMicrotask(leave)
  })
  return { req, res, response, broken, fail, leave }
}

/** What a request of node:http has and one of fetch may lack: the host, which may be only in the URL, and how the body is sent. */
function addHeaders(req: FetchIncomingMessage, { headers, body }: Request, { host }: URL): void {
  const lines = [...req.rawHeaders]
  if (!headers.has('host')) lines.push('host', host)
  if (body !== null && !headers.has('content-length') && !headers.has('transfer-encoding'))
    lines.push('transfer-encoding', 'chunked')
  req._addHeaderLines(lines, lines.length)
}

/** @throws NotPassedOn for a status that a `Response` cannot have. */
function toResponse(inner: Inner, stream: ReadableStream<Uint8Array>): Response {
  const [statusLine = '', ...lines] = inner._header.trimEnd().split('\r\n')
  const [, code, statusText = ''] = statusLine.split(/^HTTP\/1\.1 (\d+) ?/)
  const status = Number(code)
  if (status < 200 || status > 599) {
    throw new NotPassedOn(
      `The handler answered with HTTP status ${status}, which fromNode cannot pass on: use one from 200 to 599. Upgrades need a server of their own.`,
    )
  }
  const headers = new Headers()
  for (const line of lines) {
    const at = line.indexOf(': ')
    const name = line.slice(0, at)
    if (!FRAMING.has(name.toLowerCase())) headers.append(name, line.slice(at + 2))
  }
  if (status === 205) inner._hasBody = false
  // Some platforms would compress what the handler has already compressed.
  const encoding = headers.has('content-encoding') ? { encodeBody: 'manual' } : {}
  const body = inner._hasBody ? ofLength(stream, headers) : null
  return new Response(body, { status, statusText, headers, ...encoding })
}

/** Some platforms send the length of a stream only if it is such a stream. */
function ofLength(stream: ReadableStream<Uint8Array>, headers: Headers): ReadableStream<Uint8Array> {
  const { FixedLengthStream } = globalThis as {
    FixedLengthStream?: new (bytes: number) => TransformStream<Uint8Array, Uint8Array>
  }
  const bytes = Number(headers.get('content-length') ?? Number.NaN)
  return FixedLengthStream === undefined || !Number.isSafeInteger(bytes)
    ? stream
    : stream.pipeThrough(new FixedLengthStream(bytes))
}

/** As node:http calls it. */
function aborted(): Error {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}
