/** Limits the size of response bodies: JSON as a whole, streams per event. */

import { ByteBuffer } from './byte-buffer.ts'

/** The server sent more than `maxResponseBytes`. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge'

  constructor(maxBytes: number) {
    super(`The answer is larger than ${maxBytes} bytes: if you trust the server, raise maxResponseBytes`)
  }
}

/** Processes a body. Either method may throw, which ends the body. */
export interface Filter {
  /** Returns the bytes to pass on, from this chunk and earlier buffered ones. */
  transform(chunk: Uint8Array): Uint8Array
  /** Returns the bytes to pass on at the end. */
  end(): Uint8Array
}

/** The response with its body passed through `filter`. The body is read only as fast as its reader asks. */
export function withFilter(response: Response, filter: Filter): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  let isDone = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (isDone) return controller.close()
      try {
        let passed: Uint8Array = new Uint8Array(0)
        while (!isDone && passed.byteLength === 0) {
          const { done, value } = await reader.read()
          isDone = done
          passed = done ? filter.end() : filter.transform(value)
        }
        if (passed.byteLength > 0) controller.enqueue(passed)
        else controller.close()
      } catch (error) {
        // If reading the body failed, cancelling fails, too.
        reader.cancel(error).catch(() => {})
        throw error
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  // They describe the body on the wire; here it is already decompressed.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(body, { status, statusText, headers })
}

/** Smaller chunks are joined first, since the reader keeps an object per chunk. */
const MIN_CHUNK_BYTES = 16 * 1024

/** Refuses a body of more than `maxBytes`. */
export function limitBody(maxBytes: number): Filter {
  const pending = new ByteBuffer()
  let bytes = 0
  return {
    transform(chunk) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw new ResponseTooLarge(maxBytes)
      pending.add(chunk)
      return pending.length < MIN_CHUNK_BYTES ? new Uint8Array(0) : pending.takeAll()
    },
    end: () => pending.takeAll(),
  }
}
