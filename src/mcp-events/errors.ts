/** The errors of Events (SEP-3415, "Error Codes"). */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { DeliveryError } from './contract.ts'

const EventErrorCode = {
  notFound: -32011,
  forbidden: -32012,
  resourceExhausted: -32013,
  unsupported: -32014,
  callbackEndpoint: -32015,
} as const

export function notFound(kind: 'event' | 'subscription', message: string): ProtocolError {
  return new ProtocolError(EventErrorCode.notFound, message, { kind })
}

export function forbidden(reason: string): ProtocolError {
  return new ProtocolError(EventErrorCode.forbidden, `Forbidden: ${reason}`, { reason })
}

/** A quota. `max` is its ceiling. */
export function exhausted(limit: string, max: number): ProtocolError {
  return new ProtocolError(
    EventErrorCode.resourceExhausted,
    `Too many ${limit}: at most ${max} are allowed. Unsubscribe from some of them.`,
    { limit, max },
  )
}

/** Subscriptions that one principal begins in an hour. */
export function tooManyBegun(what: 'begin' | 'begin with a cursor', max: number): ProtocolError {
  return new ProtocolError(
    EventErrorCode.resourceExhausted,
    `Too many new subscriptions: at most ${max} of a caller ${what} in an hour. Try again in an hour, and refresh a subscription instead of beginning it again.`,
    { limit: 'newSubscriptions', max },
  )
}

/** Endpoints that were verified in a minute. */
export function tooManyChallenges(max: number): ProtocolError {
  return new ProtocolError(
    EventErrorCode.resourceExhausted,
    `Too many new callback endpoints: at most ${max} are verified in a minute. Try again in a minute.`,
    { limit: 'verifications', max },
  )
}

/** Another request of the same subscription came later, and counts. */
export function superseded(): ProtocolError {
  return new ProtocolError(
    EventErrorCode.resourceExhausted,
    'Another request changed this subscription meanwhile: send it again.',
    { limit: 'concurrentRequests', max: 1 },
  )
}

/** The store is contended: the request may be repeated. */
export function busy(): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    'Too many requests changed the same subscriptions at once: send it again.',
  )
}

export function unsupported(feature: string, value: unknown, message: string): ProtocolError {
  return new ProtocolError(EventErrorCode.unsupported, message, { feature, value })
}

export function callbackError(reason: DeliveryError): ProtocolError {
  return new ProtocolError(
    EventErrorCode.callbackEndpoint,
    reason === 'challenge_failed'
      ? 'The callback endpoint did not return the challenge of its verification.'
      : `The callback endpoint could not be verified (${reason}): ${UNVERIFIED[reason]}.`,
    { reason },
  )
}

/** What a client can do about it. */
const UNVERIFIED: { readonly [reason in Exclude<DeliveryError, 'challenge_failed'>]: string } = {
  connection_refused: 'nothing answers there, or this server may not connect to its address',
  timeout: 'it did not answer in time',
  tls_error: 'its certificate is not valid for its host',
  http_4xx: 'it refused the signature or the request: compare its secret with that of the subscription',
  http_5xx: 'it failed',
}

/** As `terminated` tells it. */
export interface TerminationError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export function toTermination({ code, message, data }: ProtocolError): TerminationError {
  return { code, message, ...(data !== undefined && { data }) }
}
