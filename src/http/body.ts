/**
 * Reading the body of a POST, with limits.
 */

export type Body =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: 'too-large' | 'not-utf8' | 'unreadable' }

/**
 * Reads the body as UTF-8 text. Refuses more than `maxBodyBytes`: `Content-Length` is only a shortcut, streamed bytes
 * are counted. Never throws.
 */
export async function readBody(request: Request, maxBodyBytes: number): Promise<Body> {
  if (Number(request.headers.get('content-length')) > maxBodyBytes) return { ok: false, fault: 'too-large' }
  if (request.body === null) return { ok: true, text: '' }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = request.body.getReader()
  let text = ''
  let bytes = 0
  for (;;) {
    let chunk: ReadableStreamReadResult<Uint8Array>
    try {
      chunk = await reader.read()
    } catch {
      return { ok: false, fault: 'unreadable' }
    }
    if (chunk.done) break
    bytes += chunk.value.byteLength
    if (bytes > maxBodyBytes) {
      // Not awaited: a sender that never ends must not hold the answer back.
      reader.cancel().catch(() => undefined)
      return { ok: false, fault: 'too-large' }
    }
    try {
      text += decoder.decode(chunk.value, { stream: true })
    } catch {
      return { ok: false, fault: 'not-utf8' }
    }
  }
  try {
    return { ok: true, text: text + decoder.decode() }
  } catch {
    return { ok: false, fault: 'not-utf8' }
  }
}
