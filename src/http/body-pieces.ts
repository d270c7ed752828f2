/** Reads the body of any request, with limits. */
import { createShares, type Full, type Place } from '../definition/shares.ts'
import type { Admitted } from '../protocol/engine-options.ts'
import type { Sharing } from '../request/sharing.ts'
import {
  type Body,
  type Fault,
  isSmall,
  type NoRoom,
  readSmall,
  TOO_LARGE,
  TOO_SLOW,
  toText,
  UNCOUNTED_BYTES,
  UNREADABLE,
  UNTIMED_TURNS,
} from './body.ts'

/** Reserves memory for that many more bytes of a body. Returns why there is none. */
export type Reserve = (bytes: number) => Full | undefined

/** Reads the body as UTF-8 text. Refuses more than `maxBodyBytes`, declared or streamed, and stops after `timeoutMs`. Never rejects. */
export async function readBody(request: Request, maxBodyBytes: number, timeoutMs: number): Promise<Body> {
  return toText(await readBytes(request, maxBodyBytes, timeoutMs))
}

/** The same, as raw bytes. */
export function readBytes(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | Fault> {
  return isSmall(request.headers, maxBodyBytes)
    ? readSmall(request, maxBodyBytes, timeoutMs, (body) => ('fault' in body ? body : new Uint8Array(body)))
    : (readPieces(request, maxBodyBytes, timeoutMs, unlimited) as Promise<Uint8Array | Fault>)
}

const unlimited: Reserve = () => undefined

async function readPieces(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
  reserve: Reserve,
): Promise<Uint8Array | Fault | NoRoom> {
  if (Number(request.headers.get('content-length')) > maxBodyBytes) return TOO_LARGE
  if (request.body === null) return new Uint8Array()
  // The body is being read or was already read.
  if (request.body.locked || request.bodyUsed) return UNREADABLE
  const reader = request.body.getReader()
  let bytes: Uint8Array | undefined
  let length = 0
  let isLate = false
  const expire = (): void => {
    isLate = true
    reader.cancel().catch(() => undefined)
  }
  const stop = startClock(timeoutMs, expire)
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const start = length
      length += chunk.value.byteLength
      const counted = length - Math.max(start, UNCOUNTED_BYTES)
      const fault = length > maxBodyBytes ? 'too-large' : counted > 0 ? reserve(counted) : undefined
      if (fault !== undefined) {
        // Not awaited: a sender that never stops must not delay the response.
        reader.cancel().catch(() => undefined)
        return { ok: false, fault }
      }
      // Most bodies are one chunk. Chunks are copied, since a chunk of one byte takes over a hundred bytes of memory.
      if (bytes === undefined) bytes = chunk.value
      else {
        if (length > bytes.byteLength) bytes = grown(bytes, start, length)
        bytes.set(chunk.value, start)
      }
    }
  } catch {
    return isLate ? TOO_SLOW : UNREADABLE
  } finally {
    stop()
  }
  return isLate ? TOO_SLOW : (bytes?.subarray(0, length) ?? new Uint8Array())
}

/** Copies the bytes read so far into a buffer of at least twice the size. */
function grown(bytes: Uint8Array, length: number, needed: number): Uint8Array {
  const larger = new Uint8Array(2 * needed)
  larger.set(bytes.subarray(0, length))
  return larger
}

/** Calls `ring` after that time; 0 is never. Returns a function that stops it. No timer is set for a body that is there already. */
function startClock(timeoutMs: number, ring: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let left = timeoutMs === 0 ? -1 : UNTIMED_TURNS
  const now = Promise.resolve()
  const turn = (): void => {
    if (left > 0) now.then(turn)
    else if (left === 0) timer = setTimeout(ring, timeoutMs)
    left--
  }
  turn()
  return () => {
    left = -1
    clearTimeout(timer)
  }
}

export interface BodyOptions extends Sharing {
  readonly maxBodyBytes: number
  /** Maximum bytes of all larger bodies that are arriving. */
  readonly maxBufferedBytes: number
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number
}

export type ReadLarge = (admitted: Admitted) => Promise<Body | NoRoom>

export function createReadLarge(options: BodyOptions): ReadLarge {
  const buffers = createShares(options.maxBufferedBytes, options.callerShare)
  return async (admitted) => {
    let place: Place | undefined
    const reserve: Reserve = (bytes) => {
      if (place !== undefined) return place.grow(bytes)
      const taken = buffers.take(options.callerOf(admitted), bytes)
      if (typeof taken === 'string') return taken
      place = taken
      return undefined
    }
    const { maxBodyBytes, bodyTimeoutMs } = options
    const body = await readPieces(admitted.request, maxBodyBytes, bodyTimeoutMs, reserve)
    place?.free()
    return toText(body)
  }
}
