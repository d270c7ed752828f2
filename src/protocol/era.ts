/**
 * Decides whether a message is of the modern or of the legacy era.
 */
import type { Era } from '../definition/context.ts'
import type { ProtocolError } from '../definition/protocol-error.ts'
import { hasEnvelope } from './envelope.ts'
import { mismatch } from './headers.ts'
import type { Message } from './json-rpc.ts'
import { isModernVersion } from './versions.ts'

/**
 * The era of a message. A request or notification is modern if its body has a modern envelope, or if the `MCP-Protocol-Version` header
 * names a modern version: missing parts of the body are then errors of a modern client. Modern clients do not send responses, so responses
 * are legacy. MCP 2026-07-28, "Versioning and Compatibility".
 */
export function eraOf(message: Message, versionHeader: string | null): Era {
  if (message.kind !== 'request' && message.kind !== 'notification') return 'legacy'
  if (hasEnvelope(message.params)) return 'modern'
  return versionHeader !== null && isModernVersion(versionHeader) ? 'modern' : 'legacy'
}

/** The error for `initialize`, which is legacy, with a modern version in the header. */
export function initializeMismatch(): ProtocolError {
  return mismatch('initialize is a legacy request, but the MCP-Protocol-Version header has a modern version')
}
