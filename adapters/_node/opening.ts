/**
 * The first request of a client: only `initialize` opens a session.
 */

import { readBody } from '../../src/http/body.ts'
import type { MCPServer } from '../../src/index.ts'
import { isObject } from '../../src/protocol/json-rpc.ts'
import { refuse } from './response.ts'

type Parts = Pick<ReturnType<MCPServer['getSessionParts']>, 'maxBodyBytes' | 'bodyTimeoutMs'>

export interface Opening {
  /** The same request, whose body can still be read. */
  readonly request: Request
  /** The message, where it is `initialize`. */
  readonly initialize: unknown
}

const STATUS = { 'too-large': 413, 'too-slow': 408, 'not-utf8': 400, unreadable: 400 } as const
const INVALID_REQUEST = -32600

/** A response for a body that cannot be read. */
export async function readOpening(
  request: Request,
  { maxBodyBytes, bodyTimeoutMs }: Parts,
  headers: { readonly [name: string]: string },
): Promise<Opening | Response> {
  if (request.method !== 'POST') return { request, initialize: undefined }
  const body = await readBody(request, maxBodyBytes, bodyTimeoutMs)
  if (!body.ok) {
    return refuse(
      STATUS[body.fault],
      INVALID_REQUEST,
      `The body is ${body.fault.replace('-', ' ')}.`,
      headers,
    )
  }
  const { url, method, headers: sent, signal } = request
  const message = parse(body.text)
  const isInitialize = isObject(message) && message.method === 'initialize'
  return {
    request: new Request(url, { method, headers: sent, body: body.text, signal }),
    initialize: isInitialize ? message : undefined,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
