/**
 * An answer that is there as a whole, sent in one write and without undici's `Response`: making and reading back one of those costs
 * several times what the answer does.
 */
import type { OutgoingHttpHeaders } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Whole } from '../../src/protocol/reply.ts'

type PlainHeaders = { readonly [name: string]: string }

/** What is used of a response of Node's, in HTTP/1.1 and HTTP/2. */
interface Outgoing {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  end(): unknown
  end(text: string): unknown
}

/** Stands for a response on the short way from a `leanHandle` to `send`. */
export function respond(text: string | null, status: number, headers: PlainHeaders): Response {
  return new Whole(text, status, headers) as object as Response
}

/** Sends what `respond` has made, and says so to `@hono/node-server`; hands anything else back to be sent by it. */
export function send(response: Response, outgoing: Outgoing): Response {
  const given: object = response
  if (!(given instanceof Whole)) return response
  const { text, status, headers } = given
  if (text === null) {
    outgoing.writeHead(status, { ...headers })
    outgoing.end()
  } else {
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    outgoing.end(text)
  }
  return RESPONSE_ALREADY_SENT
}
