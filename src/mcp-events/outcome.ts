/** What follows for a subscription from the answer to a delivery. */
import { type Backoff, backoffMs } from '../definition/backoff.ts'
import type { PostOutcome } from './contract.ts'
import { isAccepted, toDeliveryError } from './deliver/outcome.ts'
import type { Queued, Subscription } from './record.ts'

const BACKOFF: Backoff = { firstMs: 5000, maxMs: 3_600_000 }

/** Attempts of a body other than an event. */
const MAX_CONTROL_TRIES = 5

/** Whether the endpoint will never take this body. */
export const isRefused = (outcome: PostOutcome): boolean =>
  'status' in outcome && (outcome.status === 410 || outcome.status === 413)

/** With a fifth more or less: endpoints that failed together are not tried together. */
function delayMs(failures: number): number {
  return Math.round(backoffMs(Math.min(failures, 20), BACKOFF) * (0.8 + 0.4 * Math.random()))
}

/** The endpoint accepted a request. */
export function succeeded(subscription: Subscription): Subscription {
  const { failedSince: _since, lastError: _error, blockedUntil: _until, cut: _cut, ...rest } = subscription
  return { ...rest, failures: 0, lastDeliveryAt: Date.now() }
}

/**
 * A request failed. After the second one in a row, and if there was no answer at all, nothing is sent for a while; after `suspendAfterMs`
 * of nothing else, the subscription is suspended.
 */
function failed(subscription: Subscription, outcome: PostOutcome, suspendAfterMs: number): Subscription {
  const now = Date.now()
  const { failedSince = now } = subscription
  const failures = subscription.failures + 1
  const demandedMs = demandedBy(outcome)
  const isBlocked = failures > 1 || !('status' in outcome) || demandedMs !== undefined
  return {
    ...subscription,
    failures,
    failedSince,
    lastError: toDeliveryError(outcome),
    isActive: now - failedSince < suspendAfterMs,
    // A shorter wait than usual is not granted: it would be a loop.
    ...(isBlocked && { blockedUntil: now + Math.max(demandedMs ?? 0, delayMs(failures)) }),
  }
}

/** Milliseconds, at most an hour. */
function demandedBy(outcome: PostOutcome): number | undefined {
  const demandedMs = 'status' in outcome ? outcome.retryAfterMs : undefined
  return demandedMs === undefined ? undefined : Math.min(demandedMs, BACKOFF.maxMs)
}

/** In a row: an endpoint that takes longer than any invocation allows has failed. */
const MAX_CUT = 3

/**
 * After a request that an invocation had no time for: nothing has failed, and it is made again after a pause. Undefined: there were so many
 * in a row that it counts.
 */
export function afterCut(subscription: Subscription): Subscription | undefined {
  const cut = (subscription.cut ?? 0) + 1
  return cut > MAX_CUT ? undefined : { ...subscription, cut, blockedUntil: Date.now() + delayMs(cut) }
}

const without = (queue: readonly Queued[], seq: number): Queued[] => queue.filter(([one]) => one !== seq)

/** After the delivery of an event. */
export function afterEvent(
  subscription: Subscription,
  seq: number,
  outcome: PostOutcome,
  suspendAfterMs: number,
): Subscription {
  const { queue } = subscription
  if (isAccepted(outcome)) return { ...succeeded(subscription), queue: without(queue, seq) }
  if (isRefused(outcome)) {
    const refused = { ...subscription, queue: without(queue, seq), lastError: toDeliveryError(outcome) }
    const isGone = 'status' in outcome && outcome.status === 410
    return isGone ? { ...refused, isActive: false, failedSince: refused.failedSince ?? Date.now() } : refused
  }
  const tries = queue.find(([one]) => one === seq)?.[1] ?? 0
  const again: Queued = [seq, tries + 1, Date.now() + Math.max(demandedBy(outcome) ?? 0, delayMs(tries + 1))]
  return failed(
    { ...subscription, queue: queue.map((one) => (one[0] === seq ? again : one)) },
    outcome,
    suspendAfterMs,
  )
}

/** After the delivery of a body other than an event; undefined: the subscription has ended, and its client knows. */
export function afterControl(
  subscription: Subscription,
  outcome: PostOutcome,
  suspendAfterMs: number,
): Subscription | undefined {
  const { control, ...rest } = subscription
  if (control === undefined) return subscription
  const tries = control.tries + 1
  const isOver = isAccepted(outcome) || isRefused(outcome) || tries >= MAX_CONTROL_TRIES
  if (control.type === 'terminated' && isOver) return undefined
  if (isAccepted(outcome)) return succeeded({ ...rest, gap: undefined })
  if (isOver) return { ...rest, gap: 'tried' }
  const again = { ...subscription, control: { ...control, tries, notBefore: Date.now() + delayMs(tries) } }
  // Clients that do not know of gaps refuse them, and still take events.
  return 'status' in outcome ? again : failed(again, outcome, suspendAfterMs)
}
