/** Reads the body of a request or response on this machine. */
import type { IncomingMessage } from 'node:http'

/** Undefined if it is larger than `maxBytes`. Then the connection stays open, so that a refusal can be sent over it. */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
