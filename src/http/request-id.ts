/**
 * Ids of requests. The server's own id identifies a call. A client's `X-Request-Id` only correlates logs: two clients may send the same one.
 */

/** Safe to log. */
const SAFE = /^[\w.-]{1,64}$/

/** The client's `X-Request-Id`; undefined without one, and if it is not safe to log. */
export function sentRequestId({ headers }: Request): string | undefined {
  const sent = headers.get('x-request-id')
  return sent !== null && SAFE.test(sent) ? sent : undefined
}
