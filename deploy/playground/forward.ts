/** Passes HTTP on as it is, except for what belongs to one connection (RFC 9110 §7.6.1). */
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

/** How long a message is and whom it is for: no `Connection` may take them away. */
const KEPT = new Set(['content-length', 'host', 'origin'])

export interface Forwarding {
  readonly url: URL
  readonly options: RequestOptions
  /** The headers of the response for the client, from names and values in turn. */
  readonly toHeaders: (rawHeaders: readonly string[]) => readonly string[]
  /** Called at most once, when there is no response, or none that could be written. */
  readonly onFailure: (error: Error) => void
}

/** Streams both bodies; when one side goes away, so does the other. */
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
      // Without the reason phrase, which may hold what Node does not write.
      response.writeHead(incoming.statusCode ?? 502, [...toHeaders(incoming.rawHeaders)])
    } catch (error) {
      return fail(error as Error)
    }
    response.flushHeaders()
    // An error ends both sides, which is all that there is to do.
    pipeline(incoming, response, () => {})
  })
  outgoing.on('upgrade', (_incoming, socket) => {
    socket.on('error', () => {}).destroy()
    fail(new Error('it answers 101, and nothing was to be upgraded'))
  })
  outgoing.on('error', fail)
  response.on('close', () => outgoing.destroy())
  // Not a pipeline: a server may answer before it has read the request.
  request.pipe(outgoing)
}

/** Names and values in turn, without those of the connection. */
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
