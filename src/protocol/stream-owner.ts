/**
 * Who receives the changes on a stream, and until when. The same for `subscriptions/listen` and for the streams of sessions: each stream is
 * bound to the token that it was opened with.
 */
import type { Admitted } from './engine-options.ts'

/** The caller that opened a stream. */
export type StreamOwner = Pick<Admitted, 'auth' | 'access'>

/** When the caller's token expires, in milliseconds since the epoch: no stream outlives it. `Infinity` if it does not. */
export function expiryOf({ auth }: Pick<StreamOwner, 'auth'>): number {
  return (auth?.expiresAt ?? Number.POSITIVE_INFINITY) * 1000
}
