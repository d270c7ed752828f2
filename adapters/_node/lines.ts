/**
 * Reads lines from a stream.
 */
import type { Readable } from 'node:stream'

export interface LineOptions {
  /** Maximum bytes of a line. */
  readonly maxBytes: number
  /** Called for each line, without its line ending. */
  readonly onLine: (line: string) => void
  /** Called once, for a longer line; reading stops there. */
  readonly onTooLong: () => void
  /** Called once, when the stream has ended. An incomplete last line is dropped. */
  readonly onEnd: () => void
}

const NEWLINE = 10

/** Reads until the stream ends, or the returned function is called. */
export function readLines(input: Readable, { maxBytes, onLine, onTooLong, onEnd }: LineOptions): () => void {
  let pieces: Buffer[] = []
  let pending = 0
  let isOver = false
  const stop = (): void => {
    isOver = true
    pieces = []
    input.off('data', onChunk).off('end', end).off('close', end)
    if (input.listenerCount('data') === 0) input.pause()
  }
  const end = (): void => {
    stop()
    onEnd()
  }
  /** Returns whether the line is still within the limit. */
  const add = (piece: Buffer): boolean => {
    pending += piece.length
    pieces.push(piece)
    if (pending <= maxBytes) return true
    stop()
    onTooLong()
    return false
  }
  const onChunk = (chunk: Buffer): void => {
    let start = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      if (isOver || !add(chunk.subarray(start, at))) return
      const line = Buffer.concat(pieces).toString()
      pieces = []
      pending = 0
      start = at + 1
      onLine(line)
    }
    if (!isOver) add(chunk.subarray(start))
  }
  input.on('data', onChunk).once('end', end).once('close', end)
  // The stream may have ended before the listeners were added.
  if (input.readableEnded || input.destroyed) setImmediate(end)
  return stop
}
