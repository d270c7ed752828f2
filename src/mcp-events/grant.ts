/** Grants a subscription that was asked for, or refreshes it (SEP-3415, "Subscription Identity"). */
import type { Core } from './core.ts'
import { type Position, toCursor } from './cursor.ts'
import { type Entry, untilMade } from './data.ts'
import { type Head, newLog, type StoredEvent } from './emit.ts'
import { notFound, superseded } from './errors.ts'
import { firstWaiting } from './fan-out.ts'
import { eventKey, fenceKey, headKey, lifeKey, matchKey, subscriptionKey } from './keys.ts'
import { begunWrites, hasHooks, type Life } from './life.ts'
import { listedWrites } from './places.ts'
import { currentWatermark, isEnded, type Subscription, toWrites } from './record.ts'
import type { Fence, Reservation } from './reservation.ts'

/** How long the secret before the last signs, too. */
const GRACE_MS = 600_000
/** How long an endpoint stays verified after its last subscription was granted. */
const VERIFIED_MS = 86_400_000
/** Events of the past that a subscription may begin with. */
const MAX_REPLAY = 1000

/** What a request wants, checked. */
export interface Wanted {
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly cursor: Position | null
  readonly maxAgeMs: number | undefined
  /** Null: it does not expire. */
  readonly expiresAt: number | null
  /** As of a subscription that begins now. */
  readonly fresh: Omit<Subscription, 'epoch' | 'from' | 'replay'>
}

export interface Granted {
  readonly id: string
  readonly refreshBefore: string | null
  readonly cursor: string
  readonly truncated: boolean
  readonly deliveryStatus?: object
}

/** Stores the subscription, if no other request has come since the reservation. */
export async function grant(
  core: Core,
  wanted: Wanted,
  reservation: Reservation,
  verified: string,
): Promise<Granted> {
  const { data } = core
  const { id, expiresAt, fresh } = wanted
  return untilMade(async () => {
    const isTold = hasHooks(core, fresh.type)
    const [head, entry, fence, life, waiting] = await Promise.all([
      data.read<Head>(headKey(fresh.type)),
      data.read<Subscription>(subscriptionKey(id)),
      data.read<Fence>(fenceKey(id)),
      isTold ? data.read<Life>(lifeKey(id)) : undefined,
      // If it is later by the time of the commit, the subscription has changed, too.
      firstWaiting(core, fresh.type),
    ])
    if (fence?.version !== reservation.version) throw changedMeanwhile(fence)
    const existing = entry !== undefined && !isEnded(entry.value) ? entry.value : undefined
    // Its log begins with it, so that its position has a name.
    const log = head?.value ?? (await newLog(core, fresh.type))
    const { epoch, seq } = log
    const begun = existing === undefined ? await begin(core, wanted, log) : undefined
    const subscription = begun?.subscription ?? refreshed(existing!, wanted, epoch)
    // Under another pattern, events did not find it.
    const isMoved = existing !== undefined && existing.pattern !== subscription.pattern
    const made = await data.commit([
      ...toWrites(id, entry, subscription),
      ...(isMoved ? [{ key: matchKey(existing.type, existing.pattern, id) }] : []),
      ...listedWrites(id, subscription, expiresAt),
      ...(isTold ? begunWrites(id, life, subscription, existing === undefined) : []),
      { key: fenceKey(id), ifVersion: reservation.version },
      { key: verified, value: '1', expiresAt: (expiresAt ?? Date.now()) + VERIFIED_MS },
      head === undefined
        ? { key: headKey(fresh.type), value: JSON.stringify(log), ifVersion: null }
        : { key: headKey(fresh.type), ifVersion: head.version, isCheck: true },
    ])
    if (made === undefined) return undefined
    return {
      id,
      refreshBefore: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      cursor: toCursor(epoch, currentWatermark(subscription, seq, waiting)),
      truncated: begun?.isTruncated ?? (existing?.gap !== undefined || isMoved || existing?.epoch !== epoch),
      ...(existing !== undefined && { deliveryStatus: statusOf(existing) }),
    }
  })
}

function changedMeanwhile(fence: Entry<Fence> | undefined): Error {
  if (fence !== undefined && 'isRemoved' in fence.value)
    return notFound('subscription', 'This subscription was unsubscribed meanwhile.')
  return superseded()
}

/** A subscription that begins now, or at the position that its client has stored. */
async function begin(
  core: Core,
  { cursor, maxAgeMs, fresh }: Wanted,
  { epoch, seq, start = 0 }: Head,
): Promise<{ readonly subscription: Subscription; readonly isTruncated: boolean }> {
  const subscription = { ...fresh, epoch, from: seq }
  if (cursor === null) return { subscription, isTruncated: false }
  if (cursor.epoch !== epoch || cursor.seq > seq) return { subscription, isTruncated: true }
  if (cursor.seq === seq) return { subscription, isTruncated: false }
  const next = Math.max(cursor.seq + 1, seq - MAX_REPLAY + 1, start + 1)
  const oldest = await core.data.read<StoredEvent>(eventKey(fresh.type, next))
  const since = maxAgeMs === undefined ? undefined : Date.now() - maxAgeMs
  const isTooOld = oldest === undefined || (since !== undefined && Date.parse(oldest.value.timestamp) < since)
  return {
    subscription: { ...subscription, replay: { next, to: seq, ...(since !== undefined && { since }) } },
    isTruncated: isTooOld || next > cursor.seq + 1,
  }
}

/** The same subscription for longer, with the newest secret; deliveries that were suspended begin again. */
function refreshed(
  existing: Subscription,
  { secret, expiresAt, fresh }: Wanted,
  epoch: string,
): Subscription {
  const now = Date.now()
  const { failedSince: _since, blockedUntil: _until, gap: _gap, ...rest } = existing
  const isNewSecret = existing.secrets[0]?.secret !== secret
  const [previous] = existing.secrets
  const secrets =
    isNewSecret && previous !== undefined
      ? [{ secret }, { secret: previous.secret, until: now + GRACE_MS }]
      : existing.secrets
  const { control } = existing
  return {
    ...(existing.isActive ? existing : { ...rest, failures: 0 }),
    gap: undefined,
    control: control?.type === 'gap' ? undefined : control,
    queue: existing.isActive ? existing.queue : existing.queue.map(([seq]) => [seq, 0, now] as const),
    isActive: true,
    auth: fresh.auth,
    args: fresh.args,
    pattern: fresh.pattern,
    secrets,
    expiresAt,
    // Another one after its log was lost.
    epoch,
  }
}

/** SEP-3415, "Webhook Delivery Status": as it was before this request. */
function statusOf({ isActive, lastDeliveryAt, lastError, failedSince }: Subscription): object {
  return {
    active: isActive,
    ...(lastDeliveryAt !== undefined && { lastDeliveryAt: new Date(lastDeliveryAt).toISOString() }),
    lastError: lastError ?? null,
    ...(failedSince !== undefined && { failedSince: new Date(failedSince).toISOString() }),
  }
}
