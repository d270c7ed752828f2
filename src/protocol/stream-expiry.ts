/**
 * The receiver of a stream's changes, and until when. Both `subscriptions/listen` and the streams of sessions are bound to the token that
 * opened them.
 */
import type { Admitted } from './engine-options.ts'

/** The caller that opened a stream. */
export type StreamOwner = Pick<Admitted, 'auth' | 'access'>

/** When the caller's token expires, in milliseconds since the epoch: no stream outlives it. `Infinity` if it does not. */
export function expiryOf({ auth }: Pick<StreamOwner, 'auth'>): number {
  return (auth?.expiresAt ?? Number.POSITIVE_INFINITY) * 1000
}
