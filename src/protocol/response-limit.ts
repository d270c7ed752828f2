/** The size limit of a buffered response. The platform would replace a larger one with its own error. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** The message, or, if it is larger than `maxBytes`, the error that is sent instead. */
export function withinLimit(message: string, id: RpcId | undefined, maxBytes: number | undefined): string {
  // A UTF-16 unit is at most 3 bytes of UTF-8, so most messages need no exact count.
  if (maxBytes === undefined || message.length * 3 <= maxBytes) return message
  const bytes = new TextEncoder().encode(message).byteLength
  if (bytes <= maxBytes) return message
  return errorMessage(
    id,
    new ProtocolError(
      ErrorCode.internal,
      `The result has ${bytes} bytes, but this deployment can only send ${maxBytes}: request less, or a page of it.`,
      { limit: 'responseBytes', bytes, maxBytes },
    ),
  )
}
