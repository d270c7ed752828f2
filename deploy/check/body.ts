/** The body of an answer: decoded as a client would, and read no further than is of use. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { createEventReader, type ServerEvent } from './event-stream.ts'
import { isStream } from './media-type.ts'

/** Whether what came so far is enough: asked once the headers are there, and after each event of a stream. */
export type IsEnough = (headers: Headers, event: ServerEvent | undefined) => boolean

export interface Body {
  /** At most `MAX_BODY_BYTES` of it. */
  readonly body: string
  /** Of an event stream: those that are complete, `MAX_EVENTS` at most. */
  readonly events: readonly ServerEvent[]
  /**
   * `enough`: as `isEnough` said; `timeout` and `cut`: it began and did not end, or broke off; `undecodable`: it is not in the
   * encoding that `Content-Encoding` names.
   */
  readonly ended: 'whole' | 'enough' | 'too long' | 'timeout' | 'cut' | 'undecodable'
  readonly isUtf8: boolean
  readonly bytes: number
}

/** After decoding. */
export const MAX_BODY_BYTES = 1_048_576
export const MAX_EVENTS = 10_000

/** Never rejects. */
export function readBody(
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
      // Nothing more is read.
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
    // A stream that says nothing is told by its headers.
    if (isEnough(headers, undefined)) finish('enough')
    else if (timedOut.aborted) finish('timeout')
  })
}

/** With the encodings that every client of the web has; what else is named, `fetch` passes through too. */
function decoded(incoming: IncomingMessage, headers: Headers): Readable {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase()
  // As `fetch` does: what has come of a stream is there at once, and an end that is missing is no matter.
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

/** Without a chunk: whether the last character is whole. */
function isValid(strict: TextDecoder, chunk?: Buffer): boolean {
  try {
    strict.decode(chunk, { stream: chunk !== undefined })
    return true
  } catch {
    return false
  }
}
