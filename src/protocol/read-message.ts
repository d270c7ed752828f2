/** Reads any message from parsed JSON. */
import { isObject, type JsonObject } from '../definition/is-object.ts'
import { isId, type Message, NO_PARAMS, readRequest, shownId } from './json-rpc.ts'

/** Never throws: `reason` says why a value is not a message. */
export function readMessage(value: unknown): Message {
  if (!isObject(value)) return { kind: 'invalid', id: undefined, reason: 'a message must be a JSON object' }
  return readRequest(value) ?? readOtherMessage(value)
}

function readOtherMessage(value: JsonObject): Message {
  const { jsonrpc, id, method, params } = value
  const readableId = isId(id) ? id : undefined
  const invalid = (reason: string): Message => ({ kind: 'invalid', id: shownId(value), reason })
  if (jsonrpc !== '2.0') return invalid('"jsonrpc" must be "2.0"')
  const { result, error } = value
  if (method === undefined && isObject(result) !== (isObject(error) && Number.isInteger(error.code))) {
    // Only an error may have no id: its sender could not read the id of our request.
    return readableId === undefined && (id !== undefined || isObject(result))
      ? invalid('"id" must be a string or an integer')
      : { kind: 'response', id: readableId, answer: value.result, value }
  }
  if (typeof method !== 'string') return invalid('"method" must be a string')
  if (params !== undefined && !isObject(params)) return invalid('"params" must be an object')
  if (id === undefined) return { kind: 'notification', method, params: params ?? NO_PARAMS, value }
  return invalid('"id" must be a string or an integer')
}
