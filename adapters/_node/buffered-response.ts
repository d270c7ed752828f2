/**
 * Sends a buffered reply in one write, without undici's `Response`: creating one and reading it back costs several times as much as
 * the reply itself.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import { BufferedReply } from '../../src/protocol/reply.ts'

type PlainHeaders = { readonly [name: string]: string }

/** The members of a Node response that are used here, in HTTP/1.1 and HTTP/2. */
interface Outgoing {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  end(): unknown
  end(text: string): unknown
}

/** A stand-in for a `Response`, from a `leanHandle` to `send`. */
export function respond(text: string | null, status: number, headers: PlainHeaders): Response {
  return new BufferedReply(text, status, headers) as object as Response
}

/** Sends a reply that `respond` created. Returns false for any other response. */
export function send(response: Response, outgoing: Outgoing): boolean {
  const given: object = response
  if (!(given instanceof BufferedReply)) return false
  const { text, status, headers } = given
  if (text === null) {
    outgoing.writeHead(status, { ...headers })
    outgoing.end()
  } else {
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    outgoing.end(text)
  }
  return true
}
