/**
 * One response in the making. It is JSON, unless the request notifies or takes long: then it becomes an SSE stream
 * there and then, with the final message as its last event (MCP, Streamable HTTP, "Receiving Messages").
 */

export interface ExchangeOptions {
  /** Headers that every response of this request carries. */
  readonly headers: { readonly [name: string]: string }
  /** The platform can stream and the client accepts `text/event-stream`. */
  readonly canStream: boolean
  /** The client accepts nothing but `text/event-stream`. */
  readonly mustStream: boolean
  /** Milliseconds after which an unanswered request becomes a stream, so that first-byte limits are met. */
  readonly streamAfterMs: number
  /** Milliseconds between keep-alive comments. */
  readonly keepAliveMs: number
  /** The client went away. */
  readonly onDisconnect: () => void
  /** A response that became a stream has ended. */
  readonly onStreamEnd: () => void
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  // Without it, nginx and its kin hold events back (MCP 2026-07-28, "Receiving Messages").
  'x-accel-buffering': 'no',
  // no-transform: a compressing proxy would buffer.
  'cache-control': 'no-cache, no-transform',
} as const

const KEEP_ALIVE = ': keep-alive\n\n'

/** A reader that lets this many bytes pile up is cut off with the next message: one alone may be larger. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024

/** What the `Accept` header lets us answer with. Absent, a wildcard or JSON alone: JSON (RFC 9110 §12.5.1, leniently). */
export function acceptedTypes(accept: string | null): { canStream: boolean; mustStream: boolean } {
  const canStream = accept?.includes('text/event-stream') ?? false
  return { canStream, mustStream: canStream && !/application\/(json|\*)|\*\/\*/.test(accept!) }
}

export function sseEvent(message: string): string {
  return `event: message\ndata: ${message}\n\n`
}

export class Exchange {
  readonly response: Promise<Response>
  readonly #options: ExchangeOptions
  #resolve!: (response: Response) => void
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  #encoder: TextEncoder | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isDone = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.response = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  get isStreaming(): boolean {
    return this.#stream !== undefined
  }

  /** Starts the clock of a request that is not answered at once. */
  begin(): void {
    if (this.#isDone || this.#stream !== undefined || !this.#options.canStream) return
    this.#timer = setTimeout(() => this.#openIdle(), this.#options.streamAfterMs)
  }

  /** Sends a notification; where nothing can be streamed it is dropped, as the degradation matrix says, and false returned. */
  notify(message: string): boolean {
    if (this.#isDone || !this.#options.canStream) return false
    if (this.#stream === undefined) this.#open()
    this.#write(sseEvent(message))
    return true
  }

  /** Sends the final message. `status` and `headers` count only while nothing has been streamed. */
  finish(message: string, status: number, headers?: { readonly [name: string]: string }): void {
    if (this.#isDone) return
    clearTimeout(this.#timer)
    const { canStream, mustStream } = this.#options
    // A refusal is JSON even then: a stream could not carry its status.
    if (this.#stream === undefined && canStream && mustStream && status === 200) this.#open()
    if (this.#stream !== undefined) {
      this.#write(sseEvent(message))
      this.#end()
      return
    }
    this.#isDone = true
    this.#resolve(jsonResponse(message, status, { ...this.#options.headers, ...headers }))
  }

  /** The client is gone: whatever is returned now reaches nobody. 499 is what proxies log for it. */
  abandon(): void {
    if (this.#isDone) return
    clearTimeout(this.#timer)
    this.#isDone = true
    if (this.#stream === undefined) this.#resolve(new Response(null, { status: 499 }))
    else this.#options.onStreamEnd()
    this.#options.onDisconnect()
  }

  #open(): void {
    clearTimeout(this.#timer)
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller
        },
        cancel: () => this.abandon(),
      },
      { highWaterMark: MAX_QUEUED_BYTES, size: (chunk) => chunk.byteLength },
    )
    this.#keepAlive()
    this.#resolve(new Response(stream, { headers: { ...this.#options.headers, ...SSE_HEADERS } }))
  }

  /** A stream that has nothing to say yet starts with a comment: platforms count the time to the first byte. */
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
      stream.enqueue(this.#encoder.encode(text))
      return
    }
    stream.error(new Error('The client reads too slowly.'))
    this.abandon()
  }

  #end(): void {
    clearTimeout(this.#timer)
    if (this.#isDone) return
    this.#isDone = true
    this.#stream!.close()
    this.#options.onStreamEnd()
  }
}

export function jsonResponse(
  body: string,
  status: number,
  headers: { readonly [name: string]: string },
): Response {
  return new Response(body, { status, headers: { ...headers, 'content-type': 'application/json' } })
}
