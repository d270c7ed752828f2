/**
 * The size limit of a buffered response: a larger one would be dropped by the platform, which would send its own error.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** The message, or the error that is sent instead of one that is larger than `maxBytes`. */
export function withinLimit(message: string, id: RpcId | undefined, maxBytes: number | undefined): string {
  // A UTF-16 unit is 3 bytes of UTF-8 at most, so most messages need no count.
  if (maxBytes === undefined || message.length * 3 <= maxBytes) return message
  const bytes = new TextEncoder().encode(message).byteLength
  if (bytes <= maxBytes) return message
  return errorMessage(
    id,
    new ProtocolError(
      ErrorCode.internal,
      `The result has ${bytes} bytes, and this deployment can send ${maxBytes}: ask for less, or for a page of it.`,
      { limit: 'responseBytes', bytes, maxBytes },
    ),
  )
}
