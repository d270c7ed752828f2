/** The size limit of a buffered response. The platform would replace a larger one with its own error. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { bytesOver } from '../definition/utf8.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** The message, or, if it is larger than `maxBytes`, the error that is sent instead. */
export function withinLimit(message: string, id: RpcId | undefined, maxBytes: number | undefined): string {
  const bytes = maxBytes === undefined ? undefined : bytesOver(message, maxBytes)
  if (bytes === undefined) return message
  return errorMessage(
    id,
    new ProtocolError(
      ErrorCode.internal,
      `The result has ${bytes} bytes, but this deployment can only send ${maxBytes}: request less, or a page of it.`,
      { limit: 'responseBytes', bytes, maxBytes },
    ),
  )
}
