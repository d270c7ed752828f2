/** What an answer means, and what a client may learn of it: a category, and none of the answer (SEP-3415). */
import type { DeliveryError, PostFailure, PostOutcome } from '../contract.ts'

const ERRORS: { readonly [failure in PostFailure]: DeliveryError } = {
  timeout: 'timeout',
  tls: 'tls_error',
  refused: 'connection_refused',
  // There is no category for them.
  redirect: 'connection_refused',
  'too-large': 'connection_refused',
  // A client must not learn which addresses and names there are in the server's network.
  address: 'connection_refused',
  dns: 'connection_refused',
  other: 'connection_refused',
}

export function isAccepted(outcome: PostOutcome): boolean {
  return 'status' in outcome && outcome.status >= 200 && outcome.status < 300
}

export function toDeliveryError(outcome: PostOutcome): DeliveryError {
  if ('failure' in outcome) return ERRORS[outcome.failure]
  return outcome.status >= 500 ? 'http_5xx' : 'http_4xx'
}
