/** What is sent in a turn: events, that some of them were lost, and that the subscription has ended. */
import { isA } from '../definition/error-text.ts'
import { TimeoutError } from '../definition/timeout.ts'
import type { KeyedWrite } from '../keyed/store.ts'
import type { EventPost, PostOutcome } from './contract.ts'
import { type Core, isWanted } from './core.ts'
import { toCursor } from './cursor.ts'
import { deadWrites, reasonOf } from './dead.ts'
import { isAccepted, toDeliveryError } from './deliver/outcome.ts'
import { messageId, signHeaders } from './deliver/sign.ts'
import type { Head, StoredEvent } from './emit.ts'
import type { EventType } from './event.ts'
import { firstWaiting, queued } from './fan-out.ts'
import type { Held } from './held.ts'
import { eventKey, headKey } from './keys.ts'
import { readEvents } from './log.ts'
import { afterControl, afterCut, afterEvent, isRefused } from './outcome.ts'
import { listedWrites } from './places.ts'
import {
  type Control,
  canReplay,
  currentWatermark,
  type Queued,
  REPLAYED,
  type Subscription,
  watermarkOf,
} from './record.ts'

/** A turn that has begun. */
export interface Sending {
  readonly core: Core
  readonly held: Held
  readonly id: string
  readonly type: EventType | undefined
  /** When the invocation ends, in milliseconds since the epoch. */
  readonly deadline: number
  /** Called once for each request. */
  readonly count: (outcome: PostOutcome) => void
  /** Called when deliveries were given up. */
  readonly gaveUp: () => void
  /** What is stored after a request: without its lease, if the turn is over then. */
  readonly settle: (subscription: Subscription) => Subscription
}

/** Events that are dropped in one commit: each with a letter, which may replace another, beside three writes of the subscription. */
const MAX_LOST = 10
/** No request begins in the last moments of an invocation: they are for what is stored after it. */
const RESERVE_MS = 1500
/** An endpoint that is well answers in it. What takes longer than an invocation allows counts for nothing: see `afterCut`. */
const MIN_REQUEST_MS = 1000

export const hasTime = ({ deadline }: { readonly deadline: number }): boolean =>
  deadline - RESERVE_MS - Date.now() >= MIN_REQUEST_MS

/**
 * Does one thing that is due. False: the subscription was removed, or another run has it.
 *
 * @throws the errors of the store: what was sent, but not stored, is sent again, with the same identifier.
 */
export async function sendNext(sending: Sending): Promise<boolean> {
  const { held, type } = sending
  const value = held.current()
  const now = Date.now()
  const control = value.control ?? gapOf(value)
  if (control !== undefined && control.notBefore <= now) return sendControl(sending, control)
  if (value.replay !== undefined && type !== undefined && canReplay(value))
    return replay(sending, type, value.replay)
  const next = value.queue.find(([, , notBefore]) => notBefore <= now)
  return next === undefined ? held.change(sending.settle) : sendEvent(sending, next)
}

function gapOf(value: Subscription): Control | undefined {
  if (value.gap !== 'untold') return undefined
  return { type: 'gap', id: messageId('gap'), tries: 0, notBefore: Date.now() }
}

async function sendControl(sending: Sending, control: Control): Promise<boolean> {
  const { core, held, settle } = sending
  const { suspendAfterMs } = core.settings
  const body =
    control.type === 'terminated'
      ? { type: control.type, error: control.error }
      : { type: control.type, cursor: await freshCursor(core, held.current()) }
  const before = held.current()
  const { outcome, isCut } = await post(sending, control.id, JSON.stringify(body))
  const isStored = await held.change((subscription) => {
    const cut = isCut ? afterCut(subscription) : undefined
    const after = cut ?? afterControl({ ...subscription, control }, outcome, suspendAfterMs)
    return after && settle(after)
  })
  if (isStored) core.deliveryLog.note(sending.id, before, held.current(), outcome)
  return isStored
}

async function freshCursor(core: Core, value: Subscription): Promise<string> {
  const head = await core.data.read<Head>(headKey(value.type))
  const waiting = await firstWaiting(core, value.type)
  return toCursor(value.epoch, currentWatermark(value, head?.value.seq ?? value.from, waiting))
}

/** Puts more events of the past into the queue. */
async function replay(
  { core, held }: Sending,
  type: EventType,
  { next, to, since = 0 }: NonNullable<Subscription['replay']>,
): Promise<boolean> {
  const last = Math.min(next + REPLAYED - 1, to)
  const events = await readEvents(core, type, next, last)
  const more = events.flatMap(({ seq, event }): Queued[] => {
    if (event === undefined || Date.parse(event.timestamp) < since) return []
    return isWanted(core, type, event.data, held.current().args) ? [[seq, 0, Date.now()]] : []
  })
  return held.change((subscription) => {
    const { replay: _replay, ...rest } = queued(subscription, more)
    return last < to ? { ...rest, replay: { next: last + 1, to, since } } : rest
  })
}

async function sendEvent(sending: Sending, [seq, tries]: Queued): Promise<boolean> {
  const { core, held, id, settle } = sending
  const { data, settings } = core
  const value = held.current()
  const stored = await data.read<StoredEvent>(eventKey(value.type, seq))
  if (stored === undefined) return dropLost(sending, seq)
  const others = value.queue.filter(([one]) => one !== seq)
  const { eventId, timestamp, data: payload } = stored.value
  const cursor = toCursor(value.epoch, watermarkOf({ ...value, queue: others }, seq))
  const body = JSON.stringify({ eventId, name: value.type, timestamp, data: payload, cursor })
  const sentAt = Date.now()
  const { outcome, isCut } = await post(sending, eventId, body)
  if (isCut && afterCut(value) !== undefined)
    return held.change((subscription) => settle(afterCut(subscription) ?? subscription))
  const answeredAt = Date.now()
  core.tell((telemetry, server) =>
    telemetry.recordDelivery?.({
      server,
      event: value.type,
      error: isAccepted(outcome) ? undefined : toDeliveryError(outcome),
      tries: tries + 1,
      durationMs: answeredAt - sentAt,
      ageMs: answeredAt - Date.parse(timestamp),
    }),
  )
  const given = isRefused(outcome) ? [{ seq, tries: tries + 1, eventId, outcome }] : []
  const isStored = await giveUp(
    sending,
    given,
    (subscription) => settle(afterEvent(subscription, seq, outcome, settings.suspendAfterMs)),
    (changed) => (changed.expiresAt === value.expiresAt ? [] : listedWrites(id, changed, changed.expiresAt)),
  )
  if (isStored) core.deliveryLog.note(id, value, held.current(), outcome, tries + 1)
  return isStored
}

/** Drops `known` and older events whose time was over, or that too many newer ones have replaced. */
async function dropLost(sending: Sending, known: number): Promise<boolean> {
  const { core, held } = sending
  const value = held.current()
  const isOther = ([seq]: Queued): boolean => seq !== known
  const oldest = [
    ...value.queue.filter((one) => !isOther(one)),
    ...value.queue.filter(isOther).slice(0, MAX_LOST - 1),
  ]
  const events = await Promise.all(oldest.map(([seq]) => core.data.read(eventKey(value.type, seq))))
  const lost = oldest.filter((_queued, index) => events[index] === undefined)
  const seqs = new Set(lost.map(([seq]) => seq))
  return giveUp(
    sending,
    lost.map(([seq, tries]) => ({ seq, tries })),
    (subscription) => ({
      ...subscription,
      queue: subscription.queue.filter(([seq]) => !seqs.has(seq)),
      gap: subscription.gap ?? 'untold',
    }),
  )
}

/** What was answered. `isCut`: the endpoint had less time than it may take, and used it up. */
interface Posted {
  readonly outcome: PostOutcome
  readonly isCut: boolean
}

/** A change by which deliveries are given up. */
async function giveUp(
  { core, held, id, gaveUp }: Sending,
  given: Parameters<typeof deadWrites>[2],
  change: (subscription: Subscription) => Subscription,
  more: (changed: Subscription) => readonly KeyedWrite[] = () => [],
): Promise<boolean> {
  let letters: readonly KeyedWrite[] = []
  const event = held.current().type
  const isStored = await held.change(
    (subscription) => {
      const changed = change(subscription)
      if (given.length === 0) return changed
      const dead = deadWrites(id, changed, given)
      letters = dead.writes
      return dead.subscription
    },
    (changed) => [...letters, ...more(changed)],
  )
  if (given.length === 0 || !isStored) return isStored
  gaveUp()
  core.deliveryLog.gaveUp(id, held.current(), reasonOf(given[0]?.outcome), given.length)
  for (const { outcome } of given) {
    const reason = reasonOf(outcome)
    core.tell((telemetry, server) => telemetry.recordGivenUp?.({ server, event, reason }))
  }
  return true
}

async function post(
  { core, held, id, deadline, count }: Sending,
  webhookId: string,
  body: string,
): Promise<Posted> {
  const { url, secrets } = held.current()
  const now = Date.now()
  const current = secrets.filter(({ until = now + 1 }) => until > now).map(({ secret }) => secret)
  const signed = await signHeaders(current, webhookId, Math.floor(now / 1000), body)
  const request: EventPost = { headers: { ...signed, 'x-mcp-subscription-id': id }, body }
  const { deliveryTimeoutMs } = core.settings
  const timeoutMs = Math.min(deliveryTimeoutMs, deadline - RESERVE_MS - now)
  const outcome = await core.sender.post(url, request, { timeoutMs }).catch((error: unknown): PostOutcome => {
    core.report(error)
    return { failure: isA(error, TimeoutError) ? 'timeout' : 'other' }
  })
  const isCut = timeoutMs < deliveryTimeoutMs && 'failure' in outcome && outcome.failure === 'timeout'
  if (!isCut) count(outcome)
  return { outcome, isCut }
}
