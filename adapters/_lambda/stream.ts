/** A response, written to Lambda piece by piece as it comes. */

/** What Lambda hands to a streaming handler, as far as it is used here. */
export interface ResponseStream {
  /** False once it holds more than it wants to: then `drain` says when to go on. */
  write(chunk: Uint8Array | string): boolean
  end(): void
  once(event: 'drain' | 'close' | 'error', listener: (error?: Error) => void): unknown
  off(event: 'drain' | 'close' | 'error', listener: (error?: Error) => void): unknown
  readonly destroyed: boolean
}

/**
 * Resolves once all of it is handed over. Reads no faster than Lambda takes it. When Lambda takes no more, the rest of the
 * response is cancelled; when the response breaks off, so does this.
 */
export async function writeResponse(response: Response, stream: ResponseStream): Promise<void> {
  // The head goes with the first write: an empty one sends it now, and not with the first byte of the body.
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

function drained(stream: ResponseStream): Promise<void> {
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
