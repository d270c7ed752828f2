/**
 * A response in progress. It is JSON unless the request sends notifications or takes long; then it becomes an SSE stream with the final
 * message as its last event (MCP, Streamable HTTP, "Receiving Messages").
 */
import { bytesOver } from '../definition/utf8.ts'
import { MAX_UNREAD_BYTES } from './bounded-body.ts'
import { BufferedReply, jsonReply, type Reply } from './reply.ts'

export interface ExchangeOptions {
  /** Headers that every response of this request carries. */
  readonly headers: { readonly [name: string]: string }
  /** The platform can stream and the client accepts `text/event-stream`. */
  readonly canStream: boolean
  /** The client accepts nothing but `text/event-stream`. */
  readonly mustStream: boolean
  /** Maximum bytes of a stream. Undefined: no limit. */
  readonly maxStreamedBytes: number | undefined
  /** Milliseconds after which an unanswered request becomes a stream, so that first-byte limits are met. */
  readonly streamAfterMs: number
  /** Milliseconds between keep-alive comments. */
  readonly keepAliveMs: number
  /** Called when the client disconnects. */
  readonly onDisconnect: () => void
  /** Called when a response that became a stream has ended; the status is 499 if the client disconnected. */
  readonly onStreamEnd: (status: number) => void
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  // Stops nginx and similar proxies from buffering events (MCP 2026-07-28, "Receiving Messages").
  'x-accel-buffering': 'no',
  // no-transform: a proxy that compresses would buffer.
  'cache-control': 'no-cache, no-transform',
} as const

/** The status that proxies log when the client closed the connection. */
export const CLIENT_GONE = 499

/** A comment, which keeps proxies from ending a quiet stream. */
export const KEEP_ALIVE = ': keep-alive\n\n'

export interface AcceptedTypes {
  /** The client accepts `text/event-stream`. */
  readonly canStream: boolean
  /** The client accepts nothing else. */
  readonly mustStream: boolean
}

const BOTH: AcceptedTypes = Object.freeze({ canStream: true, mustStream: false })
const JSON_ALONE: AcceptedTypes = Object.freeze({ canStream: false, mustStream: false })
const STREAM_ALONE: AcceptedTypes = Object.freeze({ canStream: true, mustStream: true })

/**
 * The response types that the `Accept` header allows (RFC 9110 §12.5.1): media ranges in any case, `q=0` for what is refused. Lenient: the
 * response is JSON without the header, without either type, or with a wildcard.
 */
export function acceptedTypes(accept: string | null): AcceptedTypes {
  // The value that conforming clients send.
  if (accept === 'application/json, text/event-stream') return BOTH
  if (accept === null || accept === '*/*' || accept === 'application/json') return JSON_ALONE
  const wanted = new Map<string, boolean>()
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    wanted.set(type, !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter)))
  }
  // The most specific range takes precedence.
  const takes = (...ranges: readonly string[]): boolean =>
    wanted.get(ranges.find((range) => wanted.has(range)) ?? '') ?? false
  if (!takes('text/event-stream', 'text/*')) return JSON_ALONE
  return takes('application/json', 'application/*', '*/*') ? BOTH : STREAM_ALONE
}

/** Formats a message as one event. Its text is one line, as `JSON.stringify` writes it. */
export function sseEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`
}

/** Bytes that notifications leave free, so that the answer, or the error in its place, still fits. */
const RESERVED_BYTES = 1000

export class Exchange {
  readonly reply: Promise<Reply>
  readonly #options: ExchangeOptions
  #resolve!: (reply: Reply) => void
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #encoder: TextEncoder | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isDone = false
  /** How many bytes of the stream are left. */
  #room: number

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#room = options.maxStreamedBytes ?? Number.POSITIVE_INFINITY
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined
  }

  /** Maximum bytes of a message that is sent as an event. */
  get maxMessageBytes(): number {
    return this.#room - sseEvent('').length
  }

  /** Starts the timer after which an unanswered request becomes a stream. */
  begin(): void {
    if (this.#isDone || this.#stream !== undefined || !this.#options.canStream) return
    this.#timer = setTimeout(() => this.#openIdle(), this.#options.streamAfterMs)
  }

  /** Sends a notification. If the response cannot be streamed, or is full, drops it (see the degradation matrix) and returns false. */
  notify(message: string): boolean {
    if (this.#isDone || !this.#options.canStream) return false
    if (bytesOver(message, this.maxMessageBytes - RESERVED_BYTES) !== undefined) return false
    if (this.#stream === undefined) this.#open()
    this.#write(sseEvent(message))
    return true
  }

  /** Sends the final message. `status` and `headers` count only while nothing has been streamed. */
  finish(message: string, status: number, headers?: { readonly [name: string]: string }): void {
    if (this.#isDone) return
    clearTimeout(this.#timer)
    const { canStream, mustStream } = this.#options
    // An error is JSON even if the client accepts only SSE: a stream could not carry its status.
    if (this.#stream === undefined && canStream && mustStream && status === 200) this.#open()
    if (this.#stream !== undefined) {
      this.#write(sseEvent(message))
      this.#end()
      return
    }
    this.#isDone = true
    this.#resolve(jsonReply(message, status, { ...this.#options.headers, ...headers }))
  }

  /** The client has disconnected, or cancelled the call: nothing more is sent. */
  abandon(): void {
    if (this.#isDone) return
    const stream = this.#stream
    this.#leave()
    // A session reads on after the client cancelled a call, and would wait forever.
    stream?.close()
  }

  /** The same after the stream itself has ended. */
  #leave(): void {
    if (this.#isDone) return
    clearTimeout(this.#timer)
    this.#isDone = true
    this.#options.onDisconnect()
    if (this.#stream === undefined) this.#resolve(new BufferedReply(null, CLIENT_GONE, {}))
    else this.#options.onStreamEnd(CLIENT_GONE)
  }

  #open(): void {
    clearTimeout(this.#timer)
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller
        },
        cancel: () => this.#leave(),
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    )
    this.#keepAlive()
    this.#resolve(new Response(stream, { headers: { ...this.#options.headers, ...SSE_HEADERS } }))
  }

  /** An idle stream starts with a comment, since platforms limit the time to the first byte. */
  #openIdle(): void {
    this.#open()
    this.#write(KEEP_ALIVE)
  }

  #keepAlive(): void {
    this.#timer = setTimeout(() => {
      this.#write(KEEP_ALIVE)
      if (!this.#isDone) this.#keepAlive()
    }, this.#options.keepAliveMs)
  }

  #write(text: string): void {
    this.#encoder ??= new TextEncoder()
    const stream = this.#stream!
    if ((stream.desiredSize ?? 0) > 0) {
      const chunk = this.#encoder.encode(text)
      this.#room -= chunk.byteLength
      stream.enqueue(chunk)
      return
    }
    const error = new Error('The client reads too slowly: 8 MB of its stream were unread, so it was closed.')
    // Platforms print the stack for each such client, which is useless here.
    error.stack = String(error)
    stream.error(error)
    this.#leave()
  }

  #end(): void {
    clearTimeout(this.#timer)
    if (this.#isDone) return
    this.#isDone = true
    this.#stream!.close()
    this.#options.onStreamEnd(200)
  }
}
