/** The `_meta` of a request. */
import type { Era } from '../definition/context.ts'

/** Envelope keys in `_meta` (MCP 2026-07-28, "Per-request protocol fields"). They are kept apart from the rest. */
const RESERVED = 'io.modelcontextprotocol/'

export function splitMeta(
  meta: Record<string, unknown> | undefined,
  era: Era,
): { _meta?: Record<string, unknown>; envelope?: Record<string, unknown> } {
  if (meta === undefined) return {}
  if (era === 'legacy') return { _meta: meta }
  const entries = Object.entries(meta)
  const isReserved = ([key]: [string, unknown]) => key.startsWith(RESERVED)
  return {
    _meta: Object.fromEntries(entries.filter((entry) => !isReserved(entry))),
    envelope: Object.fromEntries(entries.filter(isReserved)),
  }
}
