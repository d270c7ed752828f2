/**
 * What answers a request: a whole text, as nearly always, or a response of the platform, such as a stream. A whole one becomes a
 * `Response` as late as possible: a `Response` is what costs most of a short call, above all where it is read back.
 */
import type { RequestPlatform } from '../request/platform.ts'
import { isEventStream } from './read-events.ts'

export type Reply = Whole | Response

/** An answer that is there as a whole. Told apart by what it has: a transport and a server may come with a copy each of this class. */
export class Whole {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** Null: no body. */
  readonly text: string | null

  constructor(text: string | null, status: number, headers: { readonly [name: string]: string }) {
    this.text = text
    this.status = status
    this.headers = headers
  }
}

/** A message, or several, as a buffered response. */
export function jsonReply(text: string, status: number, headers: { readonly [name: string]: string }): Whole {
  return new Whole(text, status, { ...headers, 'content-type': 'application/json' })
}

export function isWhole(reply: Reply): reply is Whole {
  return typeof reply.text !== 'function'
}

/** Made by the platform where it has a cheaper way. */
export function toResponse(reply: Reply, platform?: RequestPlatform): Response {
  if (!isWhole(reply)) return reply
  const { text, status, headers } = reply
  return platform?.respond?.(text, status, headers) ?? new Response(text, { status, headers })
}

/** The body; an empty string without one. */
export function textOf(reply: Reply): string | Promise<string> {
  return isWhole(reply) ? (reply.text ?? '') : reply.text()
}

/** Whether it ends later than it begins. */
export function isStream(reply: Reply): boolean {
  return !isWhole(reply) && isEventStream(reply)
}
