/**
 * Limits the size of each event in a stream (HTML Living Standard, "Server-sent events"). Passes on complete lines only, so that the
 * parser never reads the beginning of a line twice.
 */
import { type Filter, ResponseTooLarge } from './body-limit.ts'
import { ByteBuffer } from './byte-buffer.ts'

/** Observes the events of a stream. */
export interface EventWatcher {
  onId?(id: string): void
  onData?(data: string): void
  onTooLarge(error: ResponseTooLarge): void
}

const LF = 10
const CR = 13
/** Longer lines are not observed, since watchers look for shorter ones. */
const MAX_WATCHED_BYTES = 64 * 1024

/** Refuses an event of more than `maxBytes`. Comments count as part of their event, which also limits streams of only comments. */
export function limitEvents(maxBytes: number, watcher: EventWatcher): Filter {
  /** The start of an incomplete line. */
  const held = new ByteBuffer()
  const watch = watcher.onData && watchLines(watcher)
  let eventBytes = 0
  let isAfterReturn = false

  const check = (bytes: number): void => {
    if (bytes <= maxBytes) return
    const error = new ResponseTooLarge(maxBytes)
    watcher.onTooLarge(error)
    throw error
  }
  const endLine = (line: Uint8Array): void => {
    eventBytes = line.byteLength === 0 ? 0 : eventBytes + line.byteLength
    check(eventBytes)
    watch?.(line)
  }

  return {
    transform(chunk) {
      /** The number of bytes in the chunk that belong to complete lines. */
      let ended = 0
      for (let at = 0; at < chunk.byteLength; at++) {
        const byte = chunk[at]
        const isSecondHalf = byte === LF && isAfterReturn
        isAfterReturn = byte === CR
        if (byte !== LF && byte !== CR) continue
        const line = chunk.subarray(ended, at)
        if (!isSecondHalf) endLine(ended === 0 ? held.with(line) : line)
        ended = at + 1
      }
      const passed = ended === 0 ? chunk.subarray(0, 0) : held.with(chunk.subarray(0, ended))
      if (ended > 0) held.takeAll()
      held.add(chunk.subarray(ended))
      check(eventBytes + held.length)
      return passed
    },
    end: () => held.takeAll(),
  }
}

function watchLines({ onId, onData }: EventWatcher): (line: Uint8Array) => void {
  const decoder = new TextDecoder()
  let data: string[] = []
  return (line) => {
    if (line.byteLength === 0) {
      if (data.length > 0) onData?.(data.join('\n'))
      data = []
      return
    }
    if (line.byteLength > MAX_WATCHED_BYTES) return
    const [, field, value = ''] = /^(data|id)(?:: ?(.*))?$/s.exec(decoder.decode(line)) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'id') onId?.(value)
  }
}
