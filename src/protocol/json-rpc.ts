/**
 * JSON-RPC 2.0 messages: read strictly from untrusted text, written as text.
 */

import type { Meta } from '../definition/content.ts'
import { isObject } from '../definition/is-object.ts'
import type { JsonMembers } from '../definition/json-members.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Params } from '../request/params.ts'

export type RpcId = string | number

/** `value` is the parsed message. */
export type Message =
  | {
      readonly kind: 'request'
      readonly id: RpcId
      readonly method: string
      readonly params: Params
      readonly value: unknown
    }
  | {
      readonly kind: 'notification'
      readonly method: string
      readonly params: Params
      readonly value: unknown
    }
  | {
      readonly kind: 'response'
      readonly id: RpcId | undefined
      readonly answer: unknown
      readonly value: unknown
    }
  | { readonly kind: 'invalid'; readonly id: RpcId | undefined; readonly reason: string }

export type RequestMessage = Message & { readonly kind: 'request' }
export type UnansweredMessage = Message & ({ readonly kind: 'notification' } | { readonly kind: 'response' })

export interface JsonLimits {
  /** Maximum levels of nesting. */
  readonly maxDepth: number
  /** Maximum number of members of all objects and items of all arrays. */
  readonly maxMembers: number
  /** Maximum UTF-16 units of a string. */
  readonly maxStringCharacters: number
}

export const NO_PARAMS: Params = Object.freeze({})

/**
 * Parses a body.
 *
 * @throws ProtocolError `-32700` for text that is not JSON; `-32600` for JSON over a limit, with a key that could pollute a prototype,
 * or with a number such as `1e400`. Both with HTTP status 400.
 */
export function parseJson(text: string, limits: JsonLimits): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ProtocolError(ErrorCode.parse, 'Parse error: the body is not JSON.', undefined, { status: 400 })
  }
  return checkLimits(value, limits)
}

/** Checks a parsed value like `parseJson`, and returns it. @throws ProtocolError `-32600`, HTTP status 400. */
export function checkLimits(value: unknown, limits: JsonLimits): unknown {
  const seen = { maxMembers: limits.maxMembers, maxStringCharacters: limits.maxStringCharacters, members: 0 }
  const fault = inspect(value, limits.maxDepth, seen)
  if (fault !== undefined) throw invalidRequest(fault)
  return value
}

/** The limits of an inspection, and what it has seen so far. */
interface Seen extends Pick<JsonLimits, 'maxMembers' | 'maxStringCharacters'> {
  members: number
}

/** Returns the error, or undefined. Recursion is bounded by `levels`. */
function inspect(value: unknown, levels: number, seen: Seen): string | undefined {
  if (value === null || typeof value !== 'object') return undefined
  if (levels === 0) return 'the JSON is nested too deeply'
  const { maxMembers, maxStringCharacters } = seen
  // Of a list no more than tells that it is too long: the loop first makes a string of each index.
  const given = Array.isArray(value) && value.length > maxMembers ? value.slice(0, maxMembers + 1) : value
  for (const key in given) {
    if (++seen.members > maxMembers) return `the JSON has more than ${maxMembers} members`
    if (key === '__proto__') return 'the key "__proto__" is not allowed'
    const child = (value as Record<string, unknown>)[key]
    if (typeof child === 'string') {
      if (child.length > maxStringCharacters)
        return `a string has more than ${maxStringCharacters} characters`
      continue
    }
    if (typeof child !== 'object') {
      // JSON.stringify would turn it into null, which differs from what the client sent.
      if (child === Number.POSITIVE_INFINITY || child === Number.NEGATIVE_INFINITY)
        return 'a number is too large'
      continue
    }
    if (child === null) continue
    if (key === 'constructor' && Object.hasOwn(child, 'prototype'))
      return 'the key "constructor.prototype" is not allowed'
    const fault = inspect(child, levels - 1, seen)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Reads a request from parsed JSON. Undefined for anything else: `readMessage` reads that, and says what is wrong with it. */
export function readRequest(value: unknown): RequestMessage | undefined {
  if (!isObject(value)) return undefined
  const { jsonrpc, id, method, params = NO_PARAMS } = value
  return jsonrpc === '2.0' && typeof method === 'string' && isId(id) && isObject(params)
    ? { kind: 'request', id, method, params, value }
    : undefined
}

/** The id that an error repeats. Without a method it may belong to a response, so it is not returned as a request's id. */
export function shownId(value: unknown): RpcId | undefined {
  return isObject(value) && typeof value.method === 'string' && isId(value.id) ? value.id : undefined
}

export function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))
}

/** An error response as text. Without a readable id it has no "id", since MCP forbids null. */
export function errorMessage(
  id: RpcId | undefined,
  error: { code: number; message: string; data?: unknown },
): string {
  const { code, message, data } = error
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    error: { code, message, ...(data !== undefined && { data }) },
  })
}

/** A result response as text, from members that are already JSON. */
export function resultMessage(id: RpcId, members: JsonMembers): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members}}}`
}

export function notificationMessage(method: string, params: Params & { _meta?: Meta }): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

/** @returns `-32600`, HTTP status 400. */
export function invalidRequest(reason: string): ProtocolError {
  return new ProtocolError(ErrorCode.invalidRequest, `Invalid request: ${reason}.`, undefined, {
    status: 400,
  })
}
