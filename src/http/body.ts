/**
 * Reading the body of a POST, with limits.
 */
import { afterTurns } from '../protocol/microtask-turns.ts'
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
  reserve?: Reserve,
): Promise<Body | NoRoom> {
  return read(request, maxBodyBytes, timeoutMs, toText, reserve)
}

/** The same, as raw bytes. */
export function readBytes(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | Fault> {
  return read(request, maxBodyBytes, timeoutMs, (bytes) => bytes) as Promise<Uint8Array | Fault>
}

function toText(bytes: Uint8Array): Body {
  try {
    return { ok: true, text: UTF8.decode(bytes) }
  } catch {
    return { ok: false, fault: 'not-utf8' }
  }
}

/** Not async: an async function would cost more than decoding the body. */
function read<Value>(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
  convert: (bytes: Uint8Array) => Value,
  reserve: Reserve = () => undefined,
): Promise<Value | Fault | NoRoom> {
  const declared = request.headers.get('content-length')
  const length = declared === null ? Number.NaN : Number(declared)
  if (length > maxBodyBytes) return Promise.resolve(TOO_LARGE)
  // A constructed request can declare any length.
  const finish = (bytes: Uint8Array): Value | Fault =>
    bytes.byteLength > maxBodyBytes ? TOO_LARGE : convert(bytes)
  // Servers read no more than Content-Length (RFC 9112 §6.3), so one call reads it all: reading in pieces is the main cost here.
  return length > 0 && length <= UNCOUNTED_BYTES
    ? readWhole(request, timeoutMs, finish)
    : // Not `instanceof`: some platforms run a server in a separate realm.
      readPieces(request, maxBodyBytes, timeoutMs, reserve).then((bytes) =>
        'fault' in bytes ? bytes : finish(bytes),
      )
}

function readWhole<Value>(
  request: Request,
  timeoutMs: number,
  finish: (bytes: Uint8Array) => Value,
): Promise<Value | Fault> {
  return new Promise((resolve) => {
    const clock = startClock(timeoutMs, () => resolve(TOO_SLOW))
    const settle = (outcome: Value | Fault): void => {
      clock.stop()
      resolve(outcome)
    }
    const fail = (): void => settle(UNREADABLE)
    try {
      request.arrayBuffer().then((buffer) => settle(finish(new Uint8Array(buffer))), fail)
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
  if (request.body === null) return new Uint8Array()
  // The body is being read or was already read.
  if (request.body.locked || request.bodyUsed) return UNREADABLE
  const reader = request.body.getReader()
  let bytes: Uint8Array | undefined
  let length = 0
  const clock = startClock(timeoutMs, () => {
    reader.cancel().catch(() => undefined)
  })
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
    return clock.hasRung() ? TOO_SLOW : UNREADABLE
  } finally {
    clock.stop()
  }
  return clock.hasRung() ? TOO_SLOW : (bytes?.subarray(0, length) ?? new Uint8Array())
}

/** Copies the bytes read so far into a buffer of at least twice the size. */
function grown(bytes: Uint8Array, length: number, needed: number): Uint8Array {
  const larger = new Uint8Array(2 * needed)
  larger.set(bytes.subarray(0, length))
  return larger
}

/** Bodies that arrive within this many microtask turns need no timer. */
const UNTIMED_TURNS = 8

function startClock(timeoutMs: number, ring: () => void): { stop(): void; hasRung(): boolean } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = timeoutMs === 0
  let hasRung = false
  const start = (): void => {
    timer = setTimeout(() => {
      hasRung = true
      ring()
    }, timeoutMs)
  }
  afterTurns(UNTIMED_TURNS, start, () => isStopped)
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
    hasRung: () => hasRung,
  }
}
