/**
 * The protocol revisions Mayfly speaks.
 */

/** Version and capabilities in each request; no sessions. Newest first. */
export const MODERN_VERSIONS = ['2026-07-28'] as const

/** Opened by `initialize`. Newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const

/** What a legacy request without `MCP-Protocol-Version` speaks (MCP 2025-06-18, "Protocol Version Header"). */
export const DEFAULT_LEGACY_VERSION = '2025-03-26'

/** The one revision that has JSON-RPC batches. */
export const BATCH_VERSION = '2025-03-26'

/** Whether a version string belongs to the modern era, served here or not. Revisions are dates, so they compare as text. */
export function isModernVersion(version: string): boolean {
  return version >= '2026-07-28'
}

export function isLegacyVersion(version: string): boolean {
  return (LEGACY_VERSIONS as readonly string[]).includes(version)
}
