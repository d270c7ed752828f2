/**
 * The body of a stream with a possibly slow reader: unread bytes are buffered, up to a limit.
 */

/** With more unread bytes than this, the stream is closed at the next message; a single message may be larger. */
export const MAX_UNREAD_BYTES = 8 * 1024 * 1024

export interface BoundedBody {
  readonly body: ReadableStream<Uint8Array>
  /** Queues a chunk. If too much is unread, the stream is closed instead, unless `force` is set. Ignored after the end. */
  write(chunk: Uint8Array, options?: { readonly force: boolean }): void
  end(): void
}

/** `onGone` is called once, when the reader disconnected or the stream was closed. */
export function createBoundedBody(onGone: (reason: unknown) => void): BoundedBody {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const leave = (reason: unknown): void => {
    controller = undefined
    onGone(reason)
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => {
        controller = started
      },
      cancel: leave,
    },
    { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
  )
  return {
    body,
    write(chunk, { force } = { force: false }) {
      if (controller === undefined) return
      if (force || (controller.desiredSize ?? 0) > 0) return controller.enqueue(chunk)
      const tooSlow = new Error('The client reads too slowly.')
      controller.error(tooSlow)
      leave(tooSlow)
    },
    end() {
      controller?.close()
      controller = undefined
    },
  }
}
