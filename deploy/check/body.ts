/** The body of an answer, decoded as by a client and read only as far as needed. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { createEventReader, type ServerEvent } from '../../src/protocol/event-stream.ts'
import { isStream } from './media-type.ts'

/** Whether to stop reading: called after the headers, and after each event of a stream. */
export type IsEnough = (headers: Headers, event: ServerEvent | undefined) => boolean

export interface Body {
  /** The text, at most `MAX_BODY_BYTES`. */
  readonly body: string
  /** The complete events of an event stream, at most `MAX_EVENTS`. */
  readonly events: readonly ServerEvent[]
  /**
   * `enough`: `isEnough` returned true; `timeout` and `cut`: it started but did not end, or was interrupted; `undecodable`: it is not in
   * the encoding that `Content-Encoding` names.
   */
  readonly ended: 'whole' | 'enough' | 'too long' | 'timeout' | 'cut' | 'undecodable'
  readonly isUtf8: boolean
  readonly bytes: number
}

/** After decoding. */
export const MAX_BODY_BYTES = 1_048_576
export const MAX_EVENTS = 10_000

/** Never rejects. */
export function readResponseBody(
  incoming: IncomingMessage,
  headers: Headers,
  timedOut: AbortSignal,
  isEnough: IsEnough,
): Promise<Body> {
  return new Promise((resolve) => {
    const source = decoded(incoming, headers)
    const text = new TextDecoder()
    const strict = new TextDecoder('utf-8', { fatal: true })
    const events: ServerEvent[] = []
    let [body, bytes, isUtf8, isFinished] = ['', 0, true, false]

    const finish = (ended: Body['ended']): void => {
      if (isFinished) return
      isFinished = true
      resolve({ body, events, ended, isUtf8, bytes })
      source.destroy()
    }
    const readEvents = createEventReader((event) => {
      if (isFinished) return
      events.push(event)
      if (isEnough(headers, event)) finish('enough')
      else if (events.length >= MAX_EVENTS) finish('too long')
    })
    source.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) return finish('too long')
      isUtf8 &&= isValid(strict, chunk)
      const piece = text.decode(chunk, { stream: true })
      body += piece
      if (isStream(headers)) readEvents(piece)
    })
    source.once('end', () => {
      isUtf8 &&= isValid(strict)
      finish('whole')
    })
    source.on('error', () => finish(source === incoming ? 'cut' : 'undecodable'))
    incoming.on('error', () => finish('cut'))
    incoming.once('aborted', () => finish('cut'))
    timedOut.addEventListener('abort', () => finish('timeout'))
    // A stream without events is judged by its headers.
    if (isEnough(headers, undefined)) finish('enough')
    else if (timedOut.aborted) finish('timeout')
  })
}

/** Decodes the encodings that every HTTP client supports; like `fetch`, passes others through. */
function decoded(incoming: IncomingMessage, headers: Headers): Readable {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase()
  // Like `fetch`: passes data on as soon as it arrives, and ignores a missing end.
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
  if (encoding === 'gzip' || encoding === 'x-gzip') return incoming.pipe(createGunzip(flush))
  if (encoding === 'deflate') return incoming.pipe(createInflate(flush))
  if (encoding === 'br')
    return incoming.pipe(
      createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      }),
    )
  return incoming
}

/** Without a chunk, checks whether the last character is complete. */
function isValid(strict: TextDecoder, chunk?: Buffer): boolean {
  try {
    strict.decode(chunk, { stream: chunk !== undefined })
    return true
  } catch {
    return false
  }
}
