/** Writes a response to Lambda chunk by chunk, as it arrives. */
import { BufferedReply } from '../../src/protocol/reply.ts'
import type { Answer } from './result.ts'

/** The members of Lambda's response stream that are used here. */
export interface ResponseStream {
  /** Returns false if the buffer is full: then wait for `drain`. */
  write(chunk: Uint8Array | string): boolean
  end(): void
  once(event: 'drain' | 'close' | 'error', listener: (error?: Error) => void): unknown
  off(event: 'drain' | 'close' | 'error', listener: (error?: Error) => void): unknown
  readonly destroyed: boolean
}

/**
 * Resolves once the whole response is written. Reads no faster than Lambda accepts it. If Lambda accepts no more, the rest of the
 * response is cancelled; if the response fails, this rejects.
 */
export async function writeResponse(response: Answer, stream: ResponseStream): Promise<void> {
  if (response instanceof BufferedReply) {
    // Lambda sends the head with the first write alone, not with the end.
    stream.write(response.text ?? '')
    return stream.end()
  }
  // The head is sent with the first write: an empty one sends it now, before the first byte of the body.
  stream.write('')
  const reader = response.body?.getReader()
  if (reader !== undefined) {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      if (!stream.write(chunk.value)) await drained(stream)
      if (!stream.destroyed) continue
      await reader.cancel()
      return
    }
  }
  stream.end()
}

/** Resolves when more can be written, or nothing any more. Leaves no listener behind. */
export function drained(stream: Pick<ResponseStream, 'once' | 'off' | 'destroyed'>): Promise<void> {
  return new Promise((resolve) => {
    const events = ['drain', 'close', 'error'] as const
    const done = (): void => {
      for (const event of events) stream.off(event, done)
      resolve()
    }
    if (stream.destroyed) return resolve()
    for (const event of events) stream.once(event, done)
  })
}
