/** Reads the body of a POST that is declared as a small one. `body-pieces.ts` reads any other. */
import type { Full } from '../definition/shares.ts'

export type Body = { readonly ok: true; readonly text: string } | Fault

export interface Fault {
  readonly ok: false
  readonly fault: 'too-large' | 'not-utf8' | 'unreadable' | 'too-slow'
}

/** There is no memory for the body. */
export interface NoRoom {
  readonly ok: false
  readonly fault: Full
}

/** Smaller bodies are not counted: their connections take as much. */
export const UNCOUNTED_BYTES = 65_536

/** Bodies that arrive within this many microtask turns need no timer. */
export const UNTIMED_TURNS = 8

/** How the bodies of a server arrive: as a platform does it, all with their requests or all later. */
export interface Arrival {
  /** How many were late in a row. */
  late: number
}

/** After so many late bodies the timer is set at once, since turns cost, too. */
const LATE = 8
/** Then the turns of one body show whether it is still so. */
const LATE_UNTIL = LATE + 64

export const TOO_LARGE: Fault = { ok: false, fault: 'too-large' }
export const TOO_SLOW: Fault = { ok: false, fault: 'too-slow' }
export const UNREADABLE: Fault = { ok: false, fault: 'unreadable' }

/** Stateless between complete decodes, so all requests share it: creating one costs more than decoding most bodies. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

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
