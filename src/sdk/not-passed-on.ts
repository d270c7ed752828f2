/** What a Node handler does that cannot be passed on. Unlike a `ProtocolError` of the handler itself, the operator is told, too. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

export class NotPassedOn extends ProtocolError {
  constructor(message: string, cause?: unknown) {
    super(ErrorCode.internal, message, undefined, { status: 502, cause })
  }
}
