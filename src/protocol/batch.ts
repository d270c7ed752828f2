/**
 * JSON-RPC batches, which only 2025-03-26 has.
 */
import { hasEnvelope } from './envelope.ts'
import { invalidRequest, type Message, type RpcId } from './json-rpc.ts'
import { readMessage } from './read-message.ts'
import { BATCH_VERSION, DEFAULT_LEGACY_VERSION } from './versions.ts'

/** A batch with more messages is refused. */
const MAX_MESSAGES = 100

/**
 * Reads the messages of a batch.
 *
 * @throws ProtocolError `-32600`, HTTP status 400, for a version without batches, no or too many messages, and a message that a batch
 * must not contain.
 */
export function checkBatch(values: readonly unknown[], versionHeader: string | null): Message[] {
  const version = versionHeader ?? DEFAULT_LEGACY_VERSION
  if (version !== BATCH_VERSION)
    throw invalidRequest(`only ${BATCH_VERSION} has batches, not ${version.slice(0, 40)}`)
  if (values.length === 0) throw invalidRequest('a batch must not be empty')
  if (values.length > MAX_MESSAGES)
    throw invalidRequest(`a batch may contain at most ${MAX_MESSAGES} messages`)
  const messages = values.map(readMessage)
  const ids = new Set<RpcId>()
  for (const message of messages) {
    if (message.kind === 'invalid')
      throw invalidRequest(`the batch contains a message in which ${message.reason}`)
    if (message.kind !== 'request') continue
    if (hasEnvelope(message.params)) throw invalidRequest('a batch must not contain modern requests')
    if (message.method === 'initialize') throw invalidRequest('initialize must not be part of a batch')
    // With the same id, their answers could not be distinguished.
    if (ids.has(message.id)) throw invalidRequest('a batch must not contain two requests with the same id')
    ids.add(message.id)
  }
  return messages
}
