/**
 * The reply to a request: buffered text in nearly all cases, or a `Response`, such as a stream. A buffered one becomes a `Response`
 * as late as possible: creating a `Response`, and reading it back, is the main cost of a short call.
 */
import type { RequestPlatform } from '../request/platform.ts'
import { isEventStream } from './read-events.ts'

export type Reply = BufferedReply | Response

/** A buffered reply. Recognized by its members, not by its class: a transport and a server may each have a copy of this class. */
export class BufferedReply {
  // `declare`: without it, each object costs the call of a function that sets the fields to undefined.
  declare readonly status: number
  declare readonly headers: { readonly [name: string]: string }
  /** Null: no body. */
  declare readonly text: string | null

  constructor(text: string | null, status: number, headers: { readonly [name: string]: string }) {
    this.text = text
    this.status = status
    this.headers = headers
  }
}

/** One or more messages as a buffered response. */
export function jsonReply(
  text: string,
  status: number,
  headers: { readonly [name: string]: string },
): BufferedReply {
  return new BufferedReply(text, status, { ...headers, 'content-type': 'application/json' })
}

/** The reply to what needs no answer. */
export function accepted(headers: { readonly [name: string]: string }): BufferedReply {
  return new BufferedReply(null, 202, headers)
}

export function isBuffered(reply: Reply): reply is BufferedReply {
  return typeof reply.text !== 'function'
}

/** Uses the platform's own way of creating a response, if that is cheaper. */
export function toResponse(reply: Reply, platform?: RequestPlatform): Response {
  if (!(reply instanceof BufferedReply || isBuffered(reply))) return reply
  const { text, status, headers } = reply
  return platform?.respond?.(text, status, headers) ?? new Response(text, { status, headers })
}

/** The body as text, or empty. */
export function textOf(reply: Reply): string | Promise<string> {
  return isBuffered(reply) ? (reply.text ?? '') : reply.text()
}

/** Whether the body is a stream. */
export function isStream(reply: Reply): boolean {
  return !isBuffered(reply) && isEventStream(reply)
}
