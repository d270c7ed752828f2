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

export interface Forwarding {
  readonly url: URL
  readonly options: RequestOptions
  /** The headers of the response for the client, from names and values in turn. */
  readonly toHeaders: (rawHeaders: readonly string[]) => readonly string[]
  /** Called when there is no response. */
  readonly onFailure: (error: Error) => void
}

/** Streams both bodies; when one side goes away, so does the other. */
export function forward(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): void {
  const { url, options, toHeaders, onFailure } = forwarding
  const outgoing = send(url, options)
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, [
      ...toHeaders(incoming.rawHeaders),
    ])
    response.flushHeaders()
    // An error ends both sides, which is all that there is to do.
    pipeline(incoming, response, () => {})
  })
  outgoing.on('error', (error) => {
    if (!response.headersSent && !response.destroyed) onFailure(error)
    else response.destroy()
  })
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
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!named.has(rawHeaders[at]!.toLowerCase())) headers.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  return headers
}
