/**
 * Reading the body of a POST, with limits.
 */

export type Body =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: 'too-large' | 'not-utf8' | 'unreadable' | 'too-slow' }

/** Holds no state between whole decodes, so all requests share it: making one costs more than most bodies. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body as UTF-8 text. Refuses more than `maxBodyBytes`: `Content-Length` is only a shortcut, streamed bytes
 * are counted. Gives up after `timeoutMs`. Never throws.
 */
export async function readBody(request: Request, maxBodyBytes: number, timeoutMs: number): Promise<Body> {
  if (Number(request.headers.get('content-length')) > maxBodyBytes) return { ok: false, fault: 'too-large' }
  if (request.body === null) return { ok: true, text: '' }
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  const clock = startClock(timeoutMs, () => {
    reader.cancel().catch(() => undefined)
  })
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      chunks.push(chunk.value)
      length += chunk.value.byteLength
      if (length <= maxBodyBytes) continue
      // Not awaited: a sender that never ends must not hold the answer back.
      reader.cancel().catch(() => undefined)
      return { ok: false, fault: 'too-large' }
    }
  } catch {
    return { ok: false, fault: clock.hasRung() ? 'too-slow' : 'unreadable' }
  } finally {
    clock.stop()
  }
  if (clock.hasRung()) return { ok: false, fault: 'too-slow' }
  try {
    return { ok: true, text: UTF8.decode(chunks.length === 1 ? chunks[0] : concatenate(chunks, length)) }
  } catch {
    return { ok: false, fault: 'not-utf8' }
  }
}

/** Most bodies are there already: no timer is set for them. */
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

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}
