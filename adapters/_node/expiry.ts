/**
 * The streams of sessions end with the token that they were opened with.
 */
import { MAX_TIMER_MS } from '../../src/definition/timeout.ts'
import { expiryOf, type StreamOwner, whenRefused } from '../../src/protocol/stream-expiry.ts'

export { whenRefused }

/** Calls `end` when the caller's token expires, or the caller is refused. Returns a function that stops waiting. */
export function atExpiry(caller: StreamOwner, end: () => void): () => void {
  const stopChecks = whenRefused(caller, end)
  const expiresAt = expiryOf(caller)
  if (expiresAt === Number.POSITIVE_INFINITY) return stopChecks
  const timer = setTimeout(end, Math.min(Math.max(0, expiresAt - Date.now()), MAX_TIMER_MS))
  unref(timer)
  return () => {
    clearTimeout(timer)
    stopChecks()
  }
}

/** A timer that does not keep the process alive. */
export function unref(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object') timer.unref()
}
