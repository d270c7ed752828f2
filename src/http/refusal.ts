/**
 * Responses to requests that are refused before a message is read.
 */
import { ErrorCode } from '../definition/protocol-error.ts'
import { errorMessage } from '../protocol/json-rpc.ts'
import { type BufferedReply, jsonReply } from '../protocol/reply.ts'

/** The answer to a request without a valid URL (RFC 9112 §3.2). */
export function invalidTarget(headers: { readonly [name: string]: string }): BufferedReply {
  return refusal(400, 'Bad request: the Host or the target of the request is invalid.', headers)
}

/** A JSON-RPC error without an id. */
export function refusal(
  status: number,
  message: string,
  headers: { readonly [name: string]: string },
  code: number = ErrorCode.invalidRequest,
): BufferedReply {
  return jsonReply(errorMessage(undefined, { code, message }), status, headers)
}
