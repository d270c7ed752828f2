/** A subscription as it is stored, with what it still has to receive: one entry, so that nothing about it can contradict itself. */
import type { KeyedWrite } from '../keyed/store.ts'
import type { DeliveryError } from './contract.ts'
import type { Entry } from './data.ts'
import type { TerminationError } from './errors.ts'
import { dueKey, subscriptionKey } from './keys.ts'

/** What is known of a caller when a delivery is made: never its token. */
export interface SubscriberAuth {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly subject?: string | undefined
  readonly realm?: string | undefined
}

/** An event to deliver: its number, how often it was tried, and when it may be tried again. */
export type Queued = readonly [seq: number, tries: number, notBefore: number]

/** A body other than an event. */
export interface Control {
  readonly type: 'gap' | 'terminated'
  /** The same at each attempt. */
  readonly id: string
  readonly tries: number
  readonly notBefore: number
  readonly error?: TerminationError
}

export interface Subscription {
  readonly type: string
  readonly url: string
  /** A digest of the host, by which deliveries to one host are limited. */
  readonly host: string
  readonly principal: string
  /** A digest of the principal. */
  readonly owner: string
  readonly auth: SubscriberAuth
  /** As the schema returned them. */
  readonly args: unknown
  readonly pattern: string
  /** The newest first. One that was replaced has the time until which it signs, too. */
  readonly secrets: readonly { readonly secret: string; readonly until?: number }[]
  /** Null: it does not expire. */
  readonly expiresAt: number | null
  /** The log of its type when it began, and the last event before it. */
  readonly epoch: string
  readonly from: number
  readonly queue: readonly Queued[]
  /** Events of the past that it still gets: the next of them, the last, and the time before which they are left out. */
  readonly replay?: { readonly next: number; readonly to: number; readonly since?: number } | undefined
  readonly isActive: boolean
  /** The run that sends now. */
  readonly lease?: { readonly id: string; readonly until: number } | undefined
  readonly dueAt?: number | undefined
  /** Nothing is sent before. */
  readonly blockedUntil?: number | undefined
  /** Deliveries that failed in a row. */
  readonly failures: number
  readonly failedSince?: number | undefined
  readonly lastError?: DeliveryError | undefined
  /** Requests in a row that ended with their invocation. */
  readonly cut?: number | undefined
  readonly lastDeliveryAt?: number | undefined
  /** Events were lost. `tried`: the endpoint did not want to know, so the client learns of it when it refreshes. */
  readonly gap?: 'untold' | 'tried' | undefined
  readonly control?: Control | undefined
  /** Its newest dead letters: when it gave up which event. */
  readonly dead?: readonly (readonly [at: number, seq: number])[] | undefined
}

/** Whether it only has to tell that it has ended. */
export const isEnded = ({ control }: Subscription): boolean => control?.type === 'terminated'

/** Events that wait for one subscription. Of more, the oldest are dropped, and the client learns of a gap. */
export const MAX_QUEUE = 500
/** Events of the past that are read at once. */
export const REPLAYED = 20

/** Whether more events of the past fit into the queue. */
export const canReplay = ({ queue }: Pick<Subscription, 'queue'>): boolean =>
  queue.length < MAX_QUEUE - REPLAYED

/** When a run should look at it next; undefined: it has nothing to send. */
export function dueAtOf({
  lease,
  isActive,
  queue,
  control,
  replay,
  blockedUntil = 0,
}: Subscription): number | undefined {
  if (lease !== undefined) return lease.until
  if (!isActive) return undefined
  let earliest = replay === undefined || !canReplay({ queue }) ? Number.POSITIVE_INFINITY : 0
  if (control !== undefined) earliest = Math.min(earliest, control.notBefore)
  for (const [, , notBefore] of queue) earliest = Math.min(earliest, notBefore)
  return earliest === Number.POSITIVE_INFINITY ? undefined : Math.max(earliest, blockedUntil)
}

/** The writes that replace a subscription, at most three. */
export function toWrites(
  id: string,
  before: Entry<Subscription> | undefined,
  changed: Subscription,
): KeyedWrite[] {
  const dueAt = dueAtOf(changed)
  const { expiresAt, host, owner } = changed
  const expiry = expiresAt === null ? {} : { expiresAt }
  const writes: KeyedWrite[] = [
    {
      key: subscriptionKey(id),
      value: JSON.stringify({ ...changed, dueAt }),
      ifVersion: before?.version ?? null,
      ...expiry,
    },
  ]
  const dueBefore = before?.value.dueAt
  const hasSameDue = dueAt === dueBefore && before?.value.expiresAt === expiresAt
  if (!hasSameDue) {
    if (dueBefore !== undefined && dueBefore !== dueAt)
      writes.push({ key: dueKey(dueBefore, host, owner, id), value: undefined })
    if (dueAt !== undefined) writes.push({ key: dueKey(dueAt, host, owner, id), value: '1', ...expiry })
  }
  return writes
}

/** The watermark of a subscription, where events from `waiting` on up to `newest` are not yet in it. */
export function currentWatermark(
  subscription: Subscription,
  newest: number,
  waiting = Number.POSITIVE_INFINITY,
): number {
  // What came before it began is not for it.
  return watermarkOf(subscription, Math.max(Math.min(newest, waiting - 1), subscription.from))
}

/** The last event up to which nothing is outstanding: what a client may store (SEP-3415, "safe-to-persist watermark"). */
export function watermarkOf({ queue, replay }: Subscription, newest: number): number {
  let mark = newest
  for (const [seq] of queue) mark = Math.min(mark, seq - 1)
  if (replay !== undefined) mark = Math.min(mark, replay.next - 1)
  return mark
}
