/** What senders take from an answer. */
import type { PostOutcome } from '../contract.ts'

/**
 * An answer that was received, without its body.
 *
 * @param retryAfter The header `Retry-After`.
 */
export function toOutcome(
  status: number,
  retryAfter: string | null | undefined,
  body?: string,
): PostOutcome & { status: number } {
  const retryAfterMs = status === 429 || status === 503 ? readRetryAfter(retryAfter ?? '') : undefined
  return { status, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(body !== undefined && { body }) }
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function readRetryAfter(value: string): number | undefined {
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value.slice(0, 64)) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
