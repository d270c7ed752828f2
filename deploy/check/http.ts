/**
 * One HTTP exchange, as it is on the wire: no redirect is followed, nothing is added but what HTTP needs, and it ends
 * in time. `fetch` would add an `Accept`, refuse a `Host` and hide the certificate.
 */
import { type Agent, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  /** For the whole exchange. */
  readonly timeoutMs: number
  /** Asked after each piece of the body: whether that is enough. What follows is not read. */
  readonly isEnough?: (body: string, headers: Headers) => boolean
  /** Default: a connection of its own. */
  readonly agent?: Agent
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** At most `MAX_BODY_BYTES` of it. */
  readonly body: string
  /** `enough`: as `isEnough` said; `timeout` and `cut`: it began and did not end, or broke off. */
  readonly ended: 'whole' | 'enough' | 'too long' | 'timeout' | 'cut'
  readonly firstByteMs: number
  readonly totalMs: number
  readonly tls?: { readonly protocol: string; readonly validTo: Date }
}

/** Nothing that could be called an answer: `message` says why, as `connection refused`. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}

export const MAX_BODY_BYTES = 1_048_576

/** Rejects with `NoAnswer` alone; once the status has come, whatever follows is an answer. */
export function exchange(request: HttpRequest): Promise<Answer> {
  const { url, method, headers, body, timeoutMs, isEnough, agent } = request
  const startedAt = performance.now()
  const elapsed = (): number => performance.now() - startedAt
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    // Else Node would hold the certificate against a `Host` that a probe makes up.
    const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) ? '' : url.hostname
    const outgoing = send(url, { method, headers, servername, agent: agent ?? false })
    let finish = (_ended: Answer['ended']): void =>
      reject(new NoAnswer(`no answer within ${describeMs(timeoutMs)}`))
    const timer = setTimeout(() => {
      finish('timeout')
      outgoing.destroy()
    }, timeoutMs)
    outgoing.once('close', () => clearTimeout(timer))
    // Also after `destroy`, by then to no effect.
    outgoing.on('error', (error: NodeJS.ErrnoException) => reject(new NoAnswer(reasonFor(error))))
    outgoing.once('response', (incoming) => {
      const firstByteMs = elapsed()
      const received = new Headers(pairs(incoming.rawHeaders))
      const tls = incoming.socket instanceof TLSSocket ? tlsFacts(incoming.socket) : undefined
      const decoder = new TextDecoder()
      let text = ''
      let bytes = 0
      finish = (ended) => {
        clearTimeout(timer)
        const facts = { headers: received, body: text, ended, firstByteMs, totalMs: elapsed() }
        resolve({ status: incoming.statusCode ?? 0, ...facts, ...(tls && { tls }) })
      }
      const stop = (ended: Answer['ended']): void => {
        finish(ended)
        outgoing.destroy()
      }
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_BODY_BYTES) return stop('too long')
        text += decoder.decode(chunk, { stream: true })
        if (isEnough?.(text, received)) stop('enough')
      })
      incoming.once('end', () => finish('whole'))
      incoming.once('error', () => finish('cut'))
      incoming.once('aborted', () => finish('cut'))
      // A stream that says nothing is told by its headers.
      if (isEnough?.('', received)) stop('enough')
    })
    outgoing.end(body)
  })
}

export function describeMs(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[index * 2]!, raw[index * 2 + 1]!])
}

function tlsFacts(socket: TLSSocket): Answer['tls'] {
  const { valid_to: validTo } = socket.getPeerCertificate()
  return { protocol: socket.getProtocol() ?? 'unknown', validTo: new Date(validTo) }
}

function reasonFor(error: NodeJS.ErrnoException): string {
  // Several addresses were tried: what happened to the first says enough.
  const first: NodeJS.ErrnoException = error instanceof AggregateError ? error.errors[0] : error
  const { code, message } = first
  if (code === 'ECONNREFUSED') return 'the connection is refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no such host'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection is closed without an answer'
  if (code?.startsWith('HPE_')) return 'the answer is not HTTP'
  if (code === 'EPROTO') return 'the answer is not TLS'
  return code === undefined ? message : `${message} (${code})`
}
