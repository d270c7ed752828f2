/**
 * Responses to requests that are refused before a message is read.
 */
import { ErrorCode } from '../definition/protocol-error.ts'
import { errorMessage } from '../protocol/json-rpc.ts'
import { type BufferedReply, jsonReply } from '../protocol/reply.ts'

/** A JSON-RPC error without an id. */
export function refusal(
  status: number,
  message: string,
  headers: { readonly [name: string]: string },
  code: number = ErrorCode.invalidRequest,
): BufferedReply {
  return jsonReply(errorMessage(undefined, { code, message }), status, headers)
}
