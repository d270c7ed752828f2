/**
 * One HTTP exchange, as it is on the wire: follows no redirect, adds only what HTTP needs, and has a time limit. `fetch` would add an
 * `Accept`, refuse a `Host` and hide the certificate.
 */

import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { TLSSocket } from 'node:tls'
import { isA } from '../../src/definition/error-text.ts'
import { AddressRefused } from './addresses.ts'
import { type Body, type IsEnough, readResponseBody } from './body.ts'

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  /** Time limit of the whole exchange, in milliseconds. */
  readonly timeoutMs: number
  /** Whether to stop reading: called after the headers, and after each event of a stream. */
  readonly isEnough?: IsEnough
  /** Default: a new connection. */
  readonly agent?: Agent
  /** Resolves the address. Default: the system's resolver. */
  readonly lookup?: LookupFunction
}

export interface Answer extends Body {
  readonly status: number
  readonly headers: Headers
  readonly firstByteMs: number
  readonly totalMs: number
  /** The address that answered. */
  readonly address?: string
  readonly tls?: { readonly protocol: string; readonly validTo: Date }
}

/** There was no HTTP answer; `message` says why, such as `connection refused`. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
  readonly why: 'timeout' | 'address refused' | 'failure'

  constructor(message: string, why: NoAnswer['why'] = 'failure') {
    super(message)
    this.why = why
  }
}

/** Rejects only with `NoAnswer`. Once the status has arrived, the result is an answer. */
export async function exchange(request: HttpRequest): Promise<Answer> {
  const startedAt = performance.now()
  const elapsed = (): number => performance.now() - startedAt
  const clock = new AbortController()
  // Not `AbortSignal.timeout`, which would keep the answer in memory until the timeout.
  const timer = setTimeout(() => clock.abort(), request.timeoutMs)
  let outgoing: ClientRequest | undefined
  try {
    outgoing = open(request)
    const incoming = await responseTo(outgoing, clock.signal, request)
    const firstByteMs = elapsed()
    const headers = new Headers(pairs(incoming.rawHeaders))
    const { socket } = incoming
    const facts = {
      status: incoming.statusCode ?? 0,
      headers,
      firstByteMs,
      ...(socket.remoteAddress !== undefined && { address: socket.remoteAddress }),
      ...(socket instanceof TLSSocket && { tls: tlsFacts(socket) }),
    }
    const body = await readResponseBody(incoming, headers, clock.signal, request.isEnough ?? (() => false))
    return { ...facts, ...body, totalMs: elapsed() }
  } catch (error) {
    if (isA(error, NoAnswer)) throw error
    if (isA(error, AddressRefused)) throw new NoAnswer(error.message, 'address refused')
    throw new NoAnswer(reasonFor(error as NodeJS.ErrnoException))
  } finally {
    clearTimeout(timer)
    // If the connection is shared and the body was read completely, this keeps the connection open.
    outgoing?.destroy()
  }
}

function open({ url, method, headers, body, agent, lookup }: HttpRequest): ClientRequest {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  // Otherwise Node would compare the certificate with the probe's invented `Host`.
  const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) ? '' : url.hostname
  const outgoing = send(url, {
    method,
    headers,
    servername,
    agent: agent ?? false,
    ...(lookup && { lookup }),
  })
  // A connection may fail at any time, even if nothing more is expected from it.
  outgoing.on('error', () => {})
  outgoing.end(body)
  return outgoing
}

function responseTo(
  outgoing: ClientRequest,
  timedOut: AbortSignal,
  { timeoutMs }: HttpRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    timedOut.addEventListener('abort', () =>
      reject(new NoAnswer(`no answer within ${describeMs(timeoutMs)}`, 'timeout')),
    )
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.once('upgrade', (incoming, socket) => {
      socket.destroy()
      reject(new NoAnswer(`the answer is ${incoming.statusCode}, a switch to another protocol`))
    })
    outgoing.once('close', () => reject(new NoAnswer('the connection is closed without an answer')))
  })
}

export function describeMs(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[index * 2]!, raw[index * 2 + 1]!])
}

function tlsFacts(socket: TLSSocket): NonNullable<Answer['tls']> {
  const { valid_to: validTo } = socket.getPeerCertificate()
  return { protocol: socket.getProtocol() ?? 'unknown', validTo: new Date(validTo) }
}

function reasonFor(error: NodeJS.ErrnoException): string {
  // Several addresses were tried: the error of the first one is enough.
  const first: NodeJS.ErrnoException = isA(error, AggregateError) ? error.errors[0] : error
  const { code, message } = first
  if (code === 'ECONNREFUSED') return 'the connection is refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the host does not exist'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection is closed without an answer'
  if (code === 'HPE_HEADER_OVERFLOW') return 'the headers of the answer are over 16 KiB'
  if (code?.startsWith('HPE_')) return 'the answer is not HTTP'
  if (code === 'EPROTO') return 'the answer is not TLS'
  return code === undefined ? message : `${message} (${code})`
}
