/**
 * JSON-RPC batches, which exist in 2025-03-26 alone.
 */
import { hasEnvelope } from './envelope.ts'
import { invalidRequest, type Message, readMessage } from './json-rpc.ts'
import { BATCH_VERSION, UNNAMED_VERSION } from './versions.ts'

/** More messages than this in one batch are refused. */
const MAX_MESSAGES = 100

/**
 * Reads the messages of a batch.
 *
 * @throws ProtocolError `-32600`, HTTP status 400, for a version that has no batches, too many messages or none, and one that must
 * not be part of a batch.
 */
export function checkBatch(values: readonly unknown[], versionHeader: string | null): Message[] {
  const version = versionHeader ?? UNNAMED_VERSION
  if (version !== BATCH_VERSION)
    throw invalidRequest(`batches exist in ${BATCH_VERSION} only, not in ${version.slice(0, 40)}`)
  if (values.length === 0) throw invalidRequest('a batch must not be empty')
  if (values.length > MAX_MESSAGES) throw invalidRequest(`a batch may hold at most ${MAX_MESSAGES} messages`)
  const messages = values.map(readMessage)
  for (const message of messages) {
    if (message.kind === 'invalid')
      throw invalidRequest(`the batch holds a message in which ${message.reason}`)
    if (message.kind !== 'request') continue
    if (hasEnvelope(message.params)) throw invalidRequest('a batch must not hold modern requests')
    if (message.method === 'initialize') throw invalidRequest('initialize must not be part of a batch')
  }
  return messages
}
