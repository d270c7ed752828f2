/**
 * The body of a stream whose reader may be slow: what is not read is kept, up to a limit.
 */

/** A reader that lets this many bytes pile up is cut off with the next message: one alone may be larger. */
export const MAX_UNREAD_BYTES = 8 * 1024 * 1024

export interface BoundedBody {
  readonly body: ReadableStream<Uint8Array>
  /**
   * Queues a chunk. A reader that has left too much unread is cut off instead, unless it is forced. What comes after the end is
   * dropped.
   */
  write(chunk: Uint8Array, options?: { readonly force: boolean }): void
  end(): void
}

/** `onGone` is called once, when the reader has left or was cut off. */
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
