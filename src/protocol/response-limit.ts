/** The size limit of a buffered response. The platform would replace a larger one with its own error. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { bytesOver, utf8Length } from '../definition/utf8.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'

/** The message, or, if it is larger than `maxBytes`, the error that is sent instead. */
export function withinLimit(message: string, id: RpcId | undefined, maxBytes: number | undefined): string {
  const bytes = maxBytes === undefined ? undefined : bytesOver(message, maxBytes)
  if (bytes === undefined) return message
  return tooLarge(id, `The result has ${bytes}`, bytes, maxBytes!, 'request less, or a page of it')
}

/** An answer of a batch. */
export interface Part {
  readonly id: RpcId
  readonly message: string
}

/**
 * The array of a batch. If it is larger than `maxBytes`, as many answers as fit, the small ones first; the other requests get an error,
 * since their calls have run.
 */
export function batchWithinLimit(parts: readonly Part[], maxBytes = Number.POSITIVE_INFINITY): string {
  const whole = arrayOf(parts.map(({ message }) => message))
  const bytes = bytesOver(whole, maxBytes)
  if (bytes === undefined) return whole
  const refuse = (id?: RpcId): string =>
    tooLarge(id, `The answers to this batch have ${bytes}`, bytes, maxBytes, 'send this request alone')
  const sent = parts.map(({ id }) => refuse(id))
  let room = maxBytes - utf8Length(arrayOf(sent))
  if (room < 0) return refuse()
  const bySize = parts.map(({ message }, at) => ({
    at,
    message,
    more: utf8Length(message) - utf8Length(sent[at]!),
  }))
  for (const { at, message, more } of bySize.sort((a, b) => a.more - b.more)) {
    if (more > room) break
    room -= more
    sent[at] = message
  }
  return arrayOf(sent)
}

function tooLarge(
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

function arrayOf(messages: readonly string[]): string {
  return `[${messages.join(',')}]`
}
