/** Forwards HTTP unchanged, except for hop-by-hop headers (RFC 9110 §7.6.1). */
import type { IncomingMessage, RequestOptions, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { send } from './outgoing.ts'

const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers for the length and the recipient of a message, which `Connection` cannot remove. */
const KEPT = new Set(['content-length', 'host', 'origin'])

export interface Forwarding {
  readonly url: URL
  readonly options: RequestOptions
  /** The headers of the response for the client, from alternating names and values. */
  readonly toHeaders: (rawHeaders: readonly string[]) => readonly string[]
  /** Called at most once, if there is no response or it could not be written. */
  readonly onFailure: (error: Error) => void
}

/** Streams both bodies; when one side closes, so does the other. */
export function forward(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): void {
  const { url, options, toHeaders, onFailure } = forwarding
  const outgoing = send(url, options)
  let hasFailed = false
  const fail = (error: Error): void => {
    if (hasFailed) return
    hasFailed = true
    if (!response.headersSent && !response.destroyed) onFailure(error)
    else response.destroy()
    outgoing.destroy()
  }
  outgoing.on('response', (incoming) => {
    try {
      // Without the reason phrase, which may contain characters that Node refuses.
      response.writeHead(incoming.statusCode ?? 502, [...toHeaders(incoming.rawHeaders)])
    } catch (error) {
      return fail(error as Error)
    }
    response.flushHeaders()
    // An error ends both sides; nothing else is needed.
    pipeline(incoming, response, () => {})
  })
  outgoing.on('upgrade', (_incoming, socket) => {
    socket.on('error', () => {}).destroy()
    fail(new Error('it answers 101 without an upgrade request'))
  })
  outgoing.on('error', fail)
  response.on('close', () => outgoing.destroy())
  // Not a pipeline, since a server may answer before it has read the request.
  request.pipe(outgoing)
}

/** Alternating names and values, without hop-by-hop headers. */
export function withoutHops(rawHeaders: readonly string[]): string[] {
  const headers: string[] = []
  const named = new Set(HOP_BY_HOP)
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === 'connection')
      for (const name of rawHeaders[at + 1]!.split(',')) named.add(name.trim().toLowerCase())
  for (const name of KEPT) named.delete(name)
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!named.has(rawHeaders[at]!.toLowerCase())) headers.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  return headers
}
