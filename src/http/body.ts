/**
 * Reading the body of a POST, with limits.
 */
import type { Full } from '../request/shares.ts'

export type Body = { readonly ok: true; readonly text: string } | Fault

interface Fault {
  readonly ok: false
  readonly fault: 'too-large' | 'not-utf8' | 'unreadable' | 'too-slow'
}

/** There is no memory for the body. */
interface NoRoom {
  readonly ok: false
  readonly fault: Full
}

/** Reserves memory for that many more bytes of a body. Returns why there is none. */
export type Reserve = (bytes: number) => Full | undefined

/** Smaller bodies are not counted: their connections take as much. */
export const UNCOUNTED_BYTES = 65_536

/** Bodies that arrive within this many microtask turns need no timer. */
const UNTIMED_TURNS = 8

const TOO_LARGE: Fault = { ok: false, fault: 'too-large' }
const TOO_SLOW: Fault = { ok: false, fault: 'too-slow' }
const UNREADABLE: Fault = { ok: false, fault: 'unreadable' }

/** Stateless between complete decodes, so all requests share it: creating one costs more than decoding most bodies. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body as UTF-8 text. Refuses more than `maxBodyBytes`, declared or streamed, and stops after `timeoutMs`. Never rejects.
 *
 * @param reserve Called while a body of more than 64 KiB arrives, with the bytes that arrived.
 */
export function readBody(request: Request, maxBodyBytes: number, timeoutMs: number): Promise<Body>
export function readBody(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
  reserve: Reserve,
): Promise<Body | NoRoom>
export function readBody(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
  reserve: Reserve = unlimited,
): Promise<Body | NoRoom> {
  return isSmall(request, maxBodyBytes)
    ? readWhole(request, maxBodyBytes, timeoutMs, toText)
    : readPieces(request, maxBodyBytes, timeoutMs, reserve).then(piecesToText)
}

/** The same, as raw bytes. */
export function readBytes(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | Fault> {
  return isSmall(request, maxBodyBytes)
    ? readWhole(request, maxBodyBytes, timeoutMs, (buffer) => new Uint8Array(buffer))
    : (readPieces(request, maxBodyBytes, timeoutMs, unlimited) as Promise<Uint8Array | Fault>)
}

const unlimited: Reserve = () => undefined

/**
 * Whether the body is declared as a small one. Servers read no more than Content-Length (RFC 9112 §6.3), so one call reads it all: reading in
 * pieces is the main cost here.
 */
function isSmall(request: Request, maxBodyBytes: number): boolean {
  const length = Number(request.headers.get('content-length'))
  return length > 0 && length <= UNCOUNTED_BYTES && length <= maxBodyBytes
}

function toText(bytes: ArrayBuffer | Uint8Array): Body {
  try {
    return { ok: true, text: UTF8.decode(bytes) }
  } catch {
    return { ok: false, fault: 'not-utf8' }
  }
}

/** Not `instanceof`: some platforms run a server in a separate realm. */
function piecesToText(bytes: Uint8Array | Fault | NoRoom): Body | NoRoom {
  return 'fault' in bytes ? bytes : toText(bytes)
}

/** One promise, and few closures: each costs more than decoding the body. */
function readWhole<Value>(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
  convert: (buffer: ArrayBuffer) => Value,
): Promise<Value | Fault> {
  return new Promise((resolve) => {
    const stop = startClock(timeoutMs, () => resolve(TOO_SLOW))
    const fail = (): void => {
      stop()
      resolve(UNREADABLE)
    }
    try {
      request.arrayBuffer().then((buffer) => {
        stop()
        // A constructed request can declare any length.
        resolve(buffer.byteLength > maxBodyBytes ? TOO_LARGE : convert(buffer))
      }, fail)
    } catch {
      fail()
    }
  })
}

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
