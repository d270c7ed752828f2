/** The size limit of a buffered response. The platform would replace a larger one with its own error. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { bytesOver } from '../definition/utf8.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** The message, or, if it is larger than `maxBytes`, the error that is sent instead. */
export function withinLimit(message: string, id: RpcId | undefined, maxBytes: number | undefined): string {
  const bytes = maxBytes === undefined ? undefined : bytesOver(message, maxBytes)
  if (bytes === undefined) return message
  return tooLarge(id, `The result has ${bytes}`, bytes, maxBytes!, 'request less, or a page of it')
}

/** The error that is sent instead of a larger result. `id`: absent for a whole batch. */
export function tooLarge(
  id: RpcId | undefined,
  claim: string,
  bytes: number,
  maxBytes: number,
  remedy: string,
): string {
  return errorMessage(
    id,
    new ProtocolError(
      ErrorCode.internal,
      `${claim} bytes, but this deployment can only send ${maxBytes}: ${remedy}.`,
      { limit: 'responseBytes', bytes, maxBytes },
    ),
  )
}
