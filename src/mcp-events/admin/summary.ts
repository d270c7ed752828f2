/** Dead letters as an operator sees them. */
import { type ShownValue, shown, shownText, shownTime } from '../../tasks/admin/shown.ts'
import type { DeliveryError } from '../contract.ts'
import type { DeadLetter, DeadReason } from '../dead.ts'
import { deadAt, deadIdOf } from '../keys.ts'
import type { Subscription } from '../record.ts'

/** A delivery that was given up. */
export interface DeadLetterSummary {
  readonly id: string
  readonly reason: DeadReason
  /** The name of the event. */
  readonly name: string
  /** Null: the event was gone. */
  readonly eventId: string | null
  readonly subscriptionId: string
  readonly tries: number
  readonly lastError: DeliveryError | null
  /** What the endpoint answered. */
  readonly status?: number
  /** ISO 8601. */
  readonly givenUpAt: string | null
}

export interface DeadLetterDetails extends DeadLetterSummary {
  /** Null: it is not stored any more, so it cannot be delivered again. */
  readonly event: { readonly timestamp: string; readonly data: ShownValue } | null
  /** Null: it has ended. */
  readonly subscription: DeadSubscription | null
}

/** The subscription of a dead letter, without its secret, and of its URL the origin alone. */
export interface DeadSubscription {
  readonly origin: string
  readonly clientId: string
  readonly arguments: ShownValue
  /** False: suspended, until its client refreshes it. */
  readonly active: boolean
  /** Events that wait. */
  readonly queued: number
  /** All times are ISO 8601; null: never. */
  readonly expiresAt: string | null
  readonly lastDeliveryAt: string | null
  readonly failedSince: string | null
  readonly dueAt: string | null
}

export function summarize(key: string, letter: DeadLetter): DeadLetterSummary {
  const { reason, type, eventId = null, subscription, tries, lastError = null, status } = letter
  return {
    id: deadIdOf(key),
    reason,
    name: shownText(type),
    eventId,
    subscriptionId: subscription,
    tries,
    lastError,
    ...(status !== undefined && { status }),
    givenUpAt: shownTime(deadAt(key)),
  }
}

export function describe(subscription: Subscription): DeadSubscription {
  const { url, auth, args, isActive, queue, expiresAt, lastDeliveryAt, failedSince, dueAt } = subscription
  return {
    origin: new URL(url).origin,
    clientId: shownText(auth.clientId),
    arguments: shown(args),
    active: isActive,
    queued: queue.length,
    expiresAt: shownTime(expiresAt),
    lastDeliveryAt: shownTime(lastDeliveryAt),
    failedSince: shownTime(failedSince),
    dueAt: shownTime(dueAt),
  }
}
