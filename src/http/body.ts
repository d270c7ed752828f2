/**
 * Reading the body of a POST, with limits.
 */

export type Body =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: 'too-large' | 'not-utf8' | 'unreadable' }

/** Holds no state between whole decodes, so all requests share it: making one costs more than most bodies. */
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body as UTF-8 text. Refuses more than `maxBodyBytes`: `Content-Length` is only a shortcut, streamed bytes
 * are counted. Never throws.
 */
export async function readBody(request: Request, maxBodyBytes: number): Promise<Body> {
  if (Number(request.headers.get('content-length')) > maxBodyBytes) return { ok: false, fault: 'too-large' }
  if (request.body === null) return { ok: true, text: '' }
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
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
    return { ok: false, fault: 'unreadable' }
  }
  try {
    return { ok: true, text: UTF8.decode(chunks.length === 1 ? chunks[0] : concatenate(chunks, length)) }
  } catch {
    return { ok: false, fault: 'not-utf8' }
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
