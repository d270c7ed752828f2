/**
 * Reading the body of a POST, with limits.
 */

export type Body = { readonly ok: true; readonly text: string } | Fault

interface Fault {
  readonly ok: false
  readonly fault: 'too-large' | 'not-utf8' | 'unreadable' | 'too-slow'
}

const TOO_LARGE: Fault = { ok: false, fault: 'too-large' }
const TOO_SLOW: Fault = { ok: false, fault: 'too-slow' }
const UNREADABLE: Fault = { ok: false, fault: 'unreadable' }

/** Stateless between complete decodes, so all requests share it: creating one costs more than decoding most bodies. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body as UTF-8 text. Refuses more than `maxBodyBytes`, declared or streamed, and stops after `timeoutMs`. Never throws.
 */
export async function readBody(request: Request, maxBodyBytes: number, timeoutMs: number): Promise<Body> {
  const bytes = await readBytes(request, maxBodyBytes, timeoutMs)
  // Not `instanceof`: some platforms run a server in a separate realm.
  if ('fault' in bytes) return bytes
  try {
    return { ok: true, text: UTF8.decode(bytes) }
  } catch {
    return { ok: false, fault: 'not-utf8' }
  }
}

/** The same, as the bytes that were sent. */
export async function readBytes(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | Fault> {
  const declared = request.headers.get('content-length')
  const length = declared === null ? Number.NaN : Number(declared)
  if (length > maxBodyBytes) return TOO_LARGE
  // Servers read no more than Content-Length (RFC 9112 §6.3), so one call reads it all: reading in pieces is the main cost here.
  const bytes =
    length > 0 ? await readWhole(request, timeoutMs) : await readPieces(request, maxBodyBytes, timeoutMs)
  // A request that was constructed, not received, can declare any length.
  return 'byteLength' in bytes && bytes.byteLength > maxBodyBytes ? TOO_LARGE : bytes
}

async function readWhole(request: Request, timeoutMs: number): Promise<Uint8Array | Fault> {
  let late: ((fault: Fault) => void) | undefined
  const clock = startClock(timeoutMs, () => late?.(TOO_SLOW))
  try {
    return await new Promise<Uint8Array | Fault>((resolve, reject) => {
      late = resolve
      request.arrayBuffer().then((buffer) => resolve(new Uint8Array(buffer)), reject)
    })
  } catch {
    return UNREADABLE
  } finally {
    clock.stop()
  }
}

async function readPieces(
  request: Request,
  maxBodyBytes: number,
  timeoutMs: number,
): Promise<Uint8Array | Fault> {
  if (request.body === null) return new Uint8Array()
  // Somebody else reads it, or has read it.
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
      if (length > maxBodyBytes) {
        // Not awaited: a sender that never stops must not delay the response.
        reader.cancel().catch(() => undefined)
        return TOO_LARGE
      }
      // Most bodies are one chunk. Chunks are copied and not kept: a chunk of one byte takes more than a hundred in memory.
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

/** Bodies that are available within this many microtask turns need no timer. */
const UNTIMED_TURNS = 8

function startClock(timeoutMs: number, ring: () => void): { stop(): void; hasRung(): boolean } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = timeoutMs === 0
  let hasRung = false
  const start = async (): Promise<void> => {
    for (let turn = 0; turn < UNTIMED_TURNS && !isStopped; turn++) await undefined
    if (isStopped) return
    timer = setTimeout(() => {
      hasRung = true
      ring()
    }, timeoutMs)
  }
  void start()
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
    hasRung: () => hasRung,
  }
}
