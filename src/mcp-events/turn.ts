/**
 * One turn of a subscription: sends what is due. What became of each request is stored before the next one is sent, and whatever others
 * changed meanwhile counts: to a subscription that was removed, nothing more is sent.
 */
import { type Core, maySubscribe } from './core.ts'
import { isAccepted } from './deliver/outcome.ts'
import { messageId } from './deliver/sign.ts'
import { hasTime, type Sending, sendNext } from './delivery.ts'
import { forbidden, toTermination } from './errors.ts'
import type { EventType } from './event.ts'
import { type Held, hold } from './held.ts'
import { endedWrites } from './life.ts'
import { unlistedWrites } from './places.ts'
import { dueAtOf, isEnded, type Subscription } from './record.ts'

/** The invocation in which a turn is taken. */
export interface TurnPlatform {
  readonly env: unknown
  /** In milliseconds since the epoch. */
  readonly deadline: number
}

/** What a turn did. `isIdle`: nothing, since another run has the subscription, or it is not due. */
export interface Turn {
  readonly delivered: number
  readonly failed: number
  readonly isIdle: boolean
  /** Deliveries were given up. */
  readonly hasGivenUp: boolean
}

/** Requests and milliseconds of one turn: then others have theirs. */
const MAX_REQUESTS = 20
const TURN_MS = 5000
/** After an error of the user's code, and for an event that this version of the server does not know. */
const PAUSE_MS = 60_000
/** How long an end is told, at most. */
const ENDED_MS = 3_600_000
/** After which a suspended subscription without expiry is deleted. */
const SUSPENDED_MS = 604_800_000

/** @throws the errors of the store. */
export async function takeTurn(core: Core, id: string, platform: TurnPlatform): Promise<Turn> {
  const held = await hold(core, id)
  const turn = { delivered: 0, failed: 0, isIdle: held === undefined, hasGivenUp: false }
  if (held === undefined) return turn
  const { deadline, env } = platform
  const endsAt = Date.now() + TURN_MS
  const type = core.settings.types.get(held.current().type)
  const sending: Sending = {
    core,
    held,
    id,
    type,
    deadline,
    count(outcome) {
      if (isAccepted(outcome)) turn.delivered++
      else turn.failed++
    },
    gaveUp() {
      turn.hasGivenUp = true
    },
    settle: (subscription) =>
      settle(
        subscription,
        hasTime(platform) && Date.now() < endsAt && turn.delivered + turn.failed < MAX_REQUESTS,
      ),
  }
  const isOver = (): boolean => {
    const { expiresAt } = held.current()
    return (expiresAt !== null && expiresAt <= Date.now()) || !hasTime(platform)
  }
  while (held.current().lease !== undefined) {
    // Before each request: nothing is sent after the access was revoked.
    if (!isOver() && !(await isStillAllowed(core, held, id, type, env))) return turn
    if (!(await (isOver() ? held.change(released) : sendNext(sending)))) return turn
  }
  return turn
}

const released = ({ lease: _lease, ...rest }: Subscription): Subscription => rest

/** Without its lease if nothing more is due, or the turn is over. A suspended one without expiry gets one. */
function settle(subscription: Subscription, mayGoOn: boolean): Subscription {
  const next = released(subscription)
  const isDue = (dueAtOf(next) ?? Number.POSITIVE_INFINITY) <= Date.now()
  const settled = mayGoOn && isDue ? subscription : next
  const isAbandoned = !settled.isActive && settled.expiresAt === null
  return isAbandoned ? { ...settled, expiresAt: Date.now() + SUSPENDED_MS } : settled
}

/** Whether the subscriber may still have it. False: the turn is over. */
async function isStillAllowed(
  core: Core,
  held: Held,
  id: string,
  type: EventType | undefined,
  env: unknown,
): Promise<boolean> {
  const { principal, auth, args } = held.current()
  if (isEnded(held.current())) return true
  const putOff = async (): Promise<false> => {
    await held.change((subscription) => ({ ...released(subscription), blockedUntil: Date.now() + PAUSE_MS }))
    return false
  }
  if (type === undefined) return putOff()
  let isAllowed: boolean
  try {
    isAllowed = await maySubscribe(type, args, { principal, auth, env })
  } catch (error) {
    core.report(error)
    return putOff()
  }
  if (!isAllowed)
    return held.change(ended, (changed) => [
      ...unlistedWrites(id, changed),
      ...endedWrites(core, id, changed.type),
    ])
  // It may have been unsubscribed while the user's code was asked.
  return type.canSubscribe === undefined || held.reread()
}

/** Over for its client, which is told so and gets nothing else. */
export function ended(subscription: Subscription): Subscription {
  const { replay: _replay, blockedUntil: _until, ...rest } = subscription
  const error = toTermination(forbidden('Access revoked'))
  const now = Date.now()
  return {
    ...rest,
    queue: [],
    isActive: true,
    expiresAt: Math.min(now + ENDED_MS, subscription.expiresAt ?? Number.POSITIVE_INFINITY),
    control: { type: 'terminated', id: messageId('terminated'), tries: 0, notBefore: now, error },
  }
}
