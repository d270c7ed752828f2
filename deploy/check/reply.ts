/** What a server answered, read as JSON-RPC from a JSON body or from the events of an SSE body. */
import type { Answer } from './http.ts'
import type { JsonObject } from './messages.ts'
import { quote } from './shown.ts'

export interface RpcError {
  readonly code: unknown
  readonly message: unknown
  readonly data?: unknown
}

export interface Reply {
  readonly answer: Answer
  /** Everything that came, in order. */
  readonly messages: readonly JsonObject[]
  /** The last message that is a response, whatever its id. */
  readonly response?: JsonObject
  readonly result?: JsonObject
  readonly error?: RpcError
}

export function readReply(answer: Answer): Reply {
  const messages = readMessages(answer.body, answer.headers)
  const response = messages.findLast((message) => 'result' in message || 'error' in message)
  return {
    answer,
    messages,
    ...(response && { response }),
    ...(isObject(response?.result) && { result: response.result }),
    ...(isObject(response?.error) && { error: response.error as JsonObject & RpcError }),
  }
}

/** For `isEnough`: the response is there. Only streams outlive theirs. */
export function hasResponse(body: string, headers: Headers): boolean {
  return (
    isStream(headers) &&
    readMessages(body, headers).some((message) => 'result' in message || 'error' in message)
  )
}

export function isStream(headers: Headers): boolean {
  return essence(headers) === 'text/event-stream'
}

export function isJson(headers: Headers): boolean {
  return essence(headers) === 'application/json'
}

/** What breaks JSON-RPC or the transport in a response to the request `id`; empty when nothing does. */
export function faultsOf({ answer, response, error }: Reply, id: string | number): string[] {
  if (response === undefined) return ['there is no JSON-RPC response']
  const faults: string[] = []
  if (!isStream(answer.headers) && !isJson(answer.headers))
    faults.push(`its content type is ${essence(answer.headers) || 'not named'}`)
  if (response.jsonrpc !== '2.0') faults.push('"jsonrpc" is not "2.0"')
  if (response.id !== id) faults.push(`its id is ${quote(response.id)}, not the request’s`)
  if ('result' in response && 'error' in response) faults.push('it has both a result and an error')
  if ('error' in response && !(Number.isInteger(error?.code) && typeof error?.message === 'string'))
    faults.push('its error has no integer code and string message')
  return faults
}

/** In a few words, for a detail: `HTTP 400, -32602 "Invalid params"`. */
export function describe({ answer, response, error }: Reply): string {
  const status = `HTTP ${answer.status}`
  if (error !== undefined) return `${status}, ${codeOf(error)} ${quote(error.message)}`
  if (response !== undefined) return `${status}, a result`
  if (answer.ended === 'timeout') return `${status}, and a body that does not end`
  if (answer.ended === 'cut') return `${status}, and a body that breaks off`
  if (answer.body === '') return `${status} without a body`
  return `${status} with ${essence(answer.headers) || 'an unnamed content type'}, no JSON-RPC`
}

/** The status and the code, where nothing is amiss. */
export function brief({ answer, error }: Reply): string {
  return `HTTP ${answer.status}${error === undefined ? '' : `, ${codeOf(error)}`}`
}

function codeOf({ code }: RpcError): string {
  return typeof code === 'number' ? String(code) : quote(code)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function essence(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
}

function readMessages(body: string, headers: Headers): JsonObject[] {
  const texts = isStream(headers) ? eventData(body) : [body]
  return texts.flatMap(parse).filter(isObject)
}

/** The data of each whole event (HTML standard, "Interpreting an event stream"). */
function eventData(body: string): string[] {
  const events = body.split(/\r\n\r\n|\n\n|\r\r/)
  return events.flatMap((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'))
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')]
  })
}

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return []
  }
}
