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

/** How the bodies of a server arrive: as a platform does it, all with their requests or all later. */
export interface Arrival {
  /** How many were late in a row. */
  late: number
}

/** After so many late bodies the timer is set at once, since turns cost, too. */
const LATE = 8
/** Then the turns of one body show whether it is still so. */
const LATE_UNTIL = LATE + 64

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
  return isSmall(request.headers, maxBodyBytes)
    ? readSmall(request, maxBodyBytes, timeoutMs, toText)
    : readPieces(request, maxBodyBytes, timeoutMs, reserve).then(toText)
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

/**
 * Whether the body is declared as a small one. Servers read no more than Content-Length (RFC 9112 §6.3), so one call reads it all: reading in
 * pieces is the main cost here.
 */
export function isSmall(headers: Headers, maxBodyBytes: number): boolean {
  const length = Number(headers.get('content-length'))
  return length > 0 && length <= UNCOUNTED_BYTES && length <= maxBodyBytes
}

/** Decodes a body that was read. */
export function toText(body: ArrayBuffer | Uint8Array | Fault): Body
export function toText(body: ArrayBuffer | Uint8Array | Fault | NoRoom): Body | NoRoom
export function toText(body: ArrayBuffer | Uint8Array | Fault | NoRoom): Body | NoRoom {
  // Not `instanceof`: some platforms run a server in a separate realm.
  if ('fault' in body) return body
  try {
    return { ok: true, text: UTF8.decode(body) }
  } catch {
    return { ok: false, fault: 'not-utf8' }
  }
}

/** Reads a body that `isSmall`, and converts it at once: one promise and few functions, since each costs more than decoding it. */
export function readSmall<Value>(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
  convert: (body: ArrayBuffer | Fault) => Value | Promise<Value>,
  arrival: Arrival = { late: 0 },
  timersEnd = false,
): Promise<Value> {
  const isLate = arrival.late >= LATE
  if (isLate) arrival.late = arrival.late < LATE_UNTIL ? arrival.late + 1 : LATE - 1
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let left = timeoutMs === 0 ? -1 : isLate ? 0 : UNTIMED_TURNS
    let isSettled = false
    const settle = (body: ArrayBuffer | Fault): void => {
      if (isSettled) return
      isSettled = true
      if (left > 0) arrival.late = 0
      if (timer !== undefined && !timersEnd) clearTimeout(timer)
      // A constructed request can declare any length.
      resolve(convert('byteLength' in body && body.byteLength > maxBodyBytes ? TOO_LARGE : body))
    }
    const now = Promise.resolve()
    // As `startClock`, which would be two functions more.
    const turn = (): void => {
      if (isSettled) return
      if (left > 0) now.then(turn)
      else if (left === 0) {
        timer = setTimeout(settle, timeoutMs, TOO_SLOW)
        if (!isLate) arrival.late++
      }
      left--
    }
    turn()
    const fail = (): void => settle(UNREADABLE)
    try {
      request.arrayBuffer().then(settle, fail)
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
