/** A server's answer, parsed as JSON-RPC from a JSON body or from the events of an SSE body. */

import { isObject } from '../../src/definition/is-object.ts'
import type { ServerEvent } from '../../src/protocol/event-stream.ts'
import type { IsEnough } from './body.ts'
import { MAX_BODY_BYTES, MAX_EVENTS } from './body.ts'
import type { Answer } from './http.ts'
import { essence, isJson, isStream } from './media-type.ts'
import type { JsonObject } from './messages.ts'
import { cite, quote } from './safe-text.ts'

export interface RpcError {
  readonly code: unknown
  readonly message: unknown
  readonly data?: unknown
}

export interface Reply {
  readonly answer: Answer
  /** All messages, in order. */
  readonly messages: readonly JsonObject[]
  /** The response to the request, otherwise the last response with any id. */
  readonly response?: JsonObject
  readonly result?: JsonObject
  readonly error?: RpcError
  /** Responses to other requests in the same answer. */
  readonly strays: readonly JsonObject[]
  /** Requests of the server in the same answer. */
  readonly questions: readonly JsonObject[]
}

type Id = string | number

const MEMBERS = ['jsonrpc', 'id', 'result', 'error']

/** `id`: the id of the request, if it has one. */
export function readReply(answer: Answer, id?: Id): Reply {
  const messages = isStream(answer.headers)
    ? answer.events.flatMap(messagesIn)
    : parse(answer.body).filter(isObject)
  const responses = messages.filter(isResponse)
  const own = id === undefined ? undefined : responses.find((response) => response.id === id)
  const response = own ?? responses.at(-1)
  return {
    answer,
    messages,
    questions: messages.filter(({ method, id: asked }) => typeof method === 'string' && asked !== undefined),
    strays: own === undefined ? [] : responses.filter((other) => other.id !== id),
    ...(response && { response }),
    ...(isObject(response?.result) && { result: response.result }),
    ...(isObject(response?.error) && { error: response.error as JsonObject & RpcError }),
  }
}

/** For `isEnough`: whether the response has come. Only a stream can continue after it. Without an id, any response counts. */
export function untilResponse(id: Id | undefined): IsEnough {
  return (_headers, event) =>
    event !== undefined &&
    messagesIn(event).some((message) => isResponse(message) && (id === undefined || message.id === id))
}

/** Clients read only events of the type `message`. */
export function messagesIn({ type, data }: ServerEvent): JsonObject[] {
  return type === '' || type === 'message' ? parse(data).filter(isObject) : []
}

/** Violations of JSON-RPC or of the transport in a response to the request `id`. */
export function faultsOf({ answer, response, error }: Reply, id: Id): string[] {
  if (response === undefined) return ['there is no JSON-RPC response']
  const faults: string[] = []
  const unknown = Object.keys(response).filter((name) => !MEMBERS.includes(name))
  if (!isStream(answer.headers) && !isJson(answer.headers))
    faults.push(`its content type is ${typeOf(answer.headers) || 'not named'}`)
  if (response.jsonrpc !== '2.0') faults.push('"jsonrpc" is not "2.0"')
  if (response.id !== id) faults.push(`its id is ${quote(response.id)}, not the request’s`)
  if ('result' in response && !carriesResult(answer.status)) faults.push(`its status is ${answer.status}`)
  if ('result' in response && 'error' in response) faults.push('it has both a result and an error')
  if ('result' in response && !isObject(response.result)) faults.push('its result is not an object')
  if ('error' in response && !(Number.isInteger(error?.code) && typeof error?.message === 'string'))
    faults.push('its error has no integer code and string message')
  if (unknown.length > 0)
    faults.push(`it has members that JSON-RPC does not have: ${cite(unknown.join(', '))}`)
  return faults
}

/** In a few words, for a detail: `HTTP 400, -32602 "Invalid params"`. */
export function describe({ answer, response, error }: Reply): string {
  const status = `HTTP ${answer.status}`
  if (error !== undefined) return `${status}, ${codeOf(error)} ${quote(error.message)}`
  if (response !== undefined)
    return `${status}, a result${isObject(response.result) ? '' : ' that is not an object'}`
  if (answer.ended === 'undecodable')
    return `${status}, and a body that is not ${quote(answer.headers.get('content-encoding'))}, though Content-Encoding says so`
  if (answer.ended === 'too long')
    return `${status}, and a body of over ${MAX_BODY_BYTES / 1_048_576} MiB or ${MAX_EVENTS} events`
  if (answer.ended === 'timeout') return `${status}, and a body that does not end`
  if (answer.ended === 'cut') return `${status}, and a body that is cut off`
  if (answer.body === '') return `${status} without a body`
  return `${status} with ${typeOf(answer.headers) || 'an unnamed content type'}, no JSON-RPC`
}

/** The status and the code, if nothing is wrong. */
export function brief({ answer, error }: Reply): string {
  return `HTTP ${answer.status}${error === undefined ? '' : `, ${codeOf(error)}`}`
}

/** The content type without its parameters, for display. */
export function typeOf(headers: Headers): string {
  const type = essence(headers)
  return type === '' ? '' : cite(type)
}

function codeOf({ code }: RpcError): string {
  return typeof code === 'number' ? cite(String(code)) : quote(code)
}

/** Clients read no body of a 202, and treat any status from 300 on as a failure. */
function carriesResult(status: number): boolean {
  return status >= 200 && status < 300 && status !== 202
}

function isResponse(message: JsonObject): boolean {
  return 'result' in message || 'error' in message
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return []
  }
}
