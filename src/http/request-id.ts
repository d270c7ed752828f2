/**
 * Ids of requests. The server's own id identifies a call. A client's `X-Request-Id` only correlates logs: two clients may send the same one.
 */

/** Safe to log. */
const SAFE = /^[\w.-]{1,64}$/

/** The client's `X-Request-Id`, null without one. Undefined then, and if it is not safe to log. */
export function sentRequestId(sent: string | null): string | undefined {
  return sent !== null && SAFE.test(sent) ? sent : undefined
}
