/** The wire format of a streamed response: metadata in JSON, eight zero bytes, and then the body. */
import type { IncomingMessage } from 'node:http'
import type { FunctionResult } from './events.ts'

/** The content type of a streamed answer that begins with its metadata. */
export const METADATA_TYPE = 'application/vnd.awslambda.http-integration-response'
const DELIMITER = Buffer.alloc(8)

export interface Streamed {
  readonly head: FunctionResult
  readonly rest: AsyncIterable<Buffer>
}

/** Resolves as soon as the metadata is complete. Without metadata, everything is body. */
export async function readPrelude(body: IncomingMessage, contentType: string): Promise<Streamed> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  if (contentType !== METADATA_TYPE) {
    return { head: { statusCode: 200, headers: { 'content-type': contentType } }, rest: iterate(chunks) }
  }
  let held: Buffer = Buffer.alloc(0)
  for (let chunk = await chunks.next(); chunk.done !== true; chunk = await chunks.next()) {
    held = Buffer.concat([held, chunk.value])
    const end = held.indexOf(DELIMITER)
    if (end < 0) continue
    const head = JSON.parse(held.subarray(0, end).toString('utf8')) as FunctionResult
    return { head, rest: iterate(chunks, held.subarray(end + DELIMITER.byteLength)) }
  }
  throw new Error('The stream ended before its metadata did.')
}

async function* iterate(chunks: AsyncIterator<Buffer>, first?: Buffer): AsyncGenerator<Buffer> {
  if (first !== undefined && first.byteLength > 0) yield first
  for (let chunk = await chunks.next(); chunk.done !== true; chunk = await chunks.next()) yield chunk.value
}
