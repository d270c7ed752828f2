/** Requests of the local process for the playground: to the server that the user chose, and to URLs from that server. */

import { once } from 'node:events'
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isLoopback, mayReach } from '../../src/client/allowed-urls.ts'
import { isA, textOf } from '../../src/definition/error-text.ts'
import { addressIn, guardedLookup, kindOf } from '../check/addresses.ts'
import { readBody } from '../run/read-body.ts'

/** A refused request of the page; the message is shown to the user. */
export class Refused extends Error {
  override name = 'Refused'
}

export interface OutsideRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly contentType?: string | undefined
  readonly body?: string | undefined
}

export interface OutsideAnswer {
  readonly status: number
  readonly body: string
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 256 * 1024

/** Starts a request, without following redirects or decoding anything. */
export function send(url: URL, options: RequestOptions): ClientRequest {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return request(url, { ...options, agent: false })
}

/**
 * Fetches an OAuth document whose URL comes from `server` or its documents. Only local servers may refer to local URLs, and no host may
 * resolve to a private network that the server is not in. Does not follow redirects; at most 256 KiB and 10 seconds.
 */
export async function fetchOutside(asked: OutsideRequest, server: URL): Promise<OutsideAnswer> {
  const { url, method, contentType, body } = asked
  const isOwn = url.origin === server.origin
  if (!isOwn && !mayReach(url, server))
    throw new Refused(
      `${server.origin} refers to ${url.origin}, which is not allowed: use https and a public address`,
    )
  const isAllowed = (address: string): boolean => isOwn || isLoopback(server) || kindOf(address) === 'public'
  const literal = addressIn(url)
  if (literal !== undefined && !isAllowed(literal))
    throw new Refused(`${url.origin} is a ${kindOf(literal)} address`)
  const headers = {
    accept: 'application/json',
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const lookup = guardedLookup(isAllowed)
  return ask(url, { method, headers, lookup }, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, body })
}

export interface AskLimits {
  readonly timeoutMs: number
  /** Bytes of the answer. */
  readonly maxBytes: number
  readonly body?: string | undefined
}

/** Sends a request and reads its answer to the end. Rejects with `Refused`, whose message says why there is none. */
export async function ask(
  url: URL,
  options: RequestOptions,
  { timeoutMs, maxBytes, body }: AskLimits,
): Promise<OutsideAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const request = send(url, { ...options, signal })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return { status: response.statusCode ?? 0, body: await readText(response, url, maxBytes) }
  } catch (error) {
    if (isA(error, Refused)) throw error
    const why = signal.aborted ? `no answer within ${timeoutMs} ms` : textOf(error)
    throw new Refused(`${url.origin} cannot be reached: ${why}`)
  }
}

async function readText(response: IncomingMessage, url: URL, maxBytes: number): Promise<string> {
  const body = await readBody(response, maxBytes)
  if (body !== undefined) return body.toString('utf8')
  response.destroy()
  throw new Refused(`${url.origin} answered with more than ${maxBytes} bytes`)
}
