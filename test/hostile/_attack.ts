/** One hostile request, as bytes on a socket: no client library would send most of them. */
import { connect } from 'node:net'

export interface Attack {
  readonly name: string
  readonly bytes: string | Uint8Array
  /** The statuses that are right; `closed`: the connection may be ended without an answer. Default 400 to 499. */
  readonly expected?: readonly (number | 'closed')[]
  /** What must hold of the whole answer, besides that it gives nothing away. */
  readonly check?: (answer: string) => void
}

export interface Answer {
  /** Undefined where the connection was ended without an answer. */
  readonly status: number | undefined
  readonly text: string
}

export interface HttpParts {
  readonly method?: string
  readonly path?: string
  /** In order, as they stand; several of one name are sent. */
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string | Uint8Array
  readonly host?: string
}

const TIMEOUT_MS = 8000

/** A whole HTTP/1.1 request. Host and Content-Length are added where they are not given. */
export function http({
  method = 'POST',
  path = '/mcp',
  headers = [],
  body = '',
  host = 'HOST',
}: HttpParts): Uint8Array {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const has = (name: string): boolean => headers.some(([own]) => own.toLowerCase() === name)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...(has('host') ? [] : [`Host: ${host}`]),
    ...(has('content-length') || has('transfer-encoding') ? [] : [`Content-Length: ${bytes.byteLength}`]),
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

/** Sends it and reads to the end of the answer. Rejects when neither an answer nor an end comes within 8 seconds. */
export function send(url: URL, { bytes }: Attack): Promise<Answer> {
  const data = Buffer.from(bytes as Uint8Array)
  const filled = Buffer.from(data.toString('latin1').replaceAll('Host: HOST', `Host: ${url.host}`), 'latin1')
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port) })
    let text = ''
    const done = (): void => {
      clearTimeout(timer)
      socket.destroy()
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]
      resolve({ status: status === undefined ? undefined : Number(status), text })
    }
    const timer = setTimeout(() => {
      // An answer whose connection stays open is one all the same.
      if (/\r\n\r\n/.test(text)) return done()
      socket.destroy()
      reject(new Error(`no answer and no end within ${TIMEOUT_MS} ms`))
    }, TIMEOUT_MS)
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (isWhole(text)) done()
    })
    socket.once('end', done).once('error', done).once('close', done)
    socket.write(filled)
  })
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
  if (length !== undefined) return Buffer.byteLength(text.slice(end + 4)) >= Number(length)
  return /\r\ntransfer-encoding: chunked/i.test(text.slice(0, end)) && text.endsWith('0\r\n\r\n')
}
