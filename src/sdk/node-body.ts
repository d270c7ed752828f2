/** The body of a response of a Node handler, as a stream whose reader decides how fast it is written. */

/** Bytes after which a writer is told to wait, as node:http does with its sockets. */
const HIGH_WATER_BYTES = 65_536

type Written = (error?: Error) => void

interface Chunk {
  readonly bytes: Uint8Array
  readonly written: Written | undefined
}

/** It also takes the place of the buffer in which `fetch-to-node` keeps all that was written. */
export class NodeBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly writableHighWaterMark = HIGH_WATER_BYTES
  /** The stream passes on what is written together by itself. */
  readonly writableCorked = 1
  /** Bytes that are not read yet. */
  writableLength = 0
  /** Whether a writer was told to wait. */
  writableNeedDrain = false
  readonly #chunks: Chunk[] = []
  readonly #onDrain: () => void
  #isEnded = false
  #failure: Error | undefined
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #goOn: (() => void) | undefined

  constructor(onDrain: () => void, onCancel: () => void) {
    this.#onDrain = onDrain
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          if (this.#passOn()) return undefined
          return new Promise((resolve) => {
            this.#goOn = resolve
          })
        },
        cancel: () => {
          this.#drop(new Error('The client has disconnected.'))
          onCancel()
        },
      },
      { highWaterMark: 0 },
    )
  }

  cork(): void {}

  uncork(): void {}

  /** Returns false if the writer should wait for `onDrain`. `written` is called when the bytes are read. */
  write(bytes: Uint8Array, written?: Written): boolean {
    const failure = this.#failure
    if (failure !== undefined || (bytes.byteLength === 0 && this.#chunks.length === 0)) {
      if (written !== undefined) queueMicrotask(() => written(failure))
      return failure === undefined
    }
    this.#chunks.push({ bytes, written })
    this.writableLength += bytes.byteLength
    const isFull = this.writableLength >= HIGH_WATER_BYTES
    this.writableNeedDrain ||= isFull
    if (this.#goOn !== undefined && this.#passOn()) this.#wake()
    return !isFull
  }

  /** What was written is still read. */
  end(): void {
    if (this.#isEnded || this.#failure !== undefined) return
    this.#isEnded = true
    // Otherwise the last chunk closes it.
    if (this.#chunks.length > 0) return
    this.#controller.close()
    this.#wake()
  }

  /** Nothing more is read: later writes are dropped. */
  fail(error: Error): void {
    if ((this.#isEnded && this.#chunks.length === 0) || this.#failure !== undefined) return
    this.#drop(error)
    this.#controller.error(error)
  }

  /** Passes on one chunk with bytes. Returns whether the reader has got something. */
  #passOn(): boolean {
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
      const { bytes, written } = chunk
      this.writableLength -= bytes.byteLength
      if (written !== undefined) queueMicrotask(written)
      if (this.writableLength === 0 && this.writableNeedDrain) {
        this.writableNeedDrain = false
        queueMicrotask(this.#onDrain)
      }
      if (bytes.byteLength === 0) continue
      this.#controller.enqueue(bytes)
      if (this.#isEnded && this.#chunks.length === 0) this.#controller.close()
      return true
    }
    return false
  }

  #wake(): void {
    this.#goOn?.()
    this.#goOn = undefined
  }

  #drop(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    for (const { written } of this.#chunks.splice(0))
      if (written !== undefined) queueMicrotask(() => written(error))
    this.#wake()
  }
}
