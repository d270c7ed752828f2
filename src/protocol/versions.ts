/**
 * The supported protocol revisions.
 */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

/** Without sessions: each request has its version and capabilities. Newest first. */
export const MODERN_VERSIONS = ['2026-07-28'] as const

/** Started by `initialize`. Newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const

/** The version of a legacy request without `MCP-Protocol-Version` (MCP 2025-06-18, "Protocol Version Header"). */
export const DEFAULT_LEGACY_VERSION = '2025-03-26'

/** The only revision with JSON-RPC batches. */
export const BATCH_VERSION = '2025-03-26'

/** Whether a version is of the modern era, supported or not. Revisions are dates, so they compare as text. */
export function isModernVersion(version: string): boolean {
  return version >= '2026-07-28'
}

export function isLegacyVersion(version: string): boolean {
  return (LEGACY_VERSIONS as readonly string[]).includes(version)
}

/** @throws ProtocolError `-32022`, HTTP 400, for a version that the server does not support. */
export function checkVersion(requested: string, supported: readonly string[] | undefined): void {
  if (supported === undefined || supported.includes(requested)) return
  throw new ProtocolError(
    ErrorCode.unsupportedProtocolVersion,
    `Unsupported protocol version: ${requested}`,
    { supported, requested },
    { status: 400 },
  )
}
