/**
 * Calls `onSubscribe` and `onUnsubscribe`: once each for a subscription, after a crash again with the same subscription. Each attempt is
 * stored before it is made; one that fails is made again later, and holds up no delivery.
 */
import { type Backoff, backoffMs } from '../definition/backoff.ts'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../definition/timeout.ts'
import type { KeyedWrite } from '../keyed/store.ts'
import type { Core } from './core.ts'
import { type Entry, untilMade } from './data.ts'
import { hasTime } from './delivery.ts'
import type { EventType } from './event.ts'
import { LIFE_DUE_PREFIX, lifeKey, readLifeDueKey, subscriptionKey } from './keys.ts'
import { hasHooks, type Life, lifeWrites } from './life.ts'
import { isEnded, type Subscription } from './record.ts'
import type { TurnPlatform } from './turn.ts'

const PAGE = 50
const CONCURRENCY = 5
/** Longer than an attempt takes. */
const ATTEMPT_MS = 30_000
const BACKOFF: Backoff = { firstMs: 5000, maxMs: 3_600_000 }
/** Milliseconds after which the end of a subscription is no longer told. */
const GIVE_UP_MS = 86_400_000
/** Before the next look at an event that this version of the server does not know. */
const UNKNOWN_MS = 600_000
/** Before the next look at a subscription whose expiry the store has not noticed. */
const AGAIN_MS = 1000

/** When something is due next, in milliseconds since the epoch; null: nothing is. Never rejects: errors are reported. */
export async function runHooks(core: Core, platform: TurnPlatform): Promise<number | null> {
  if (![...core.settings.types.keys()].some((name) => hasHooks(core, name))) return null
  try {
    const stuck = new Set<string>()
    for (;;) {
      const { keys } = await core.data.keys(LIFE_DUE_PREFIX, PAGE)
      const due = keys.filter((key) => readLifeDueKey(key).at <= Date.now() && !stuck.has(key))
      const [first] = keys
      if (due.length === 0 || !hasTime(platform)) return first === undefined ? null : nextOf(first)
      await takeAll(core, platform, due, stuck)
    }
  } catch (error) {
    core.report(error)
    return Date.now()
  }
}

const nextOf = (key: string): number => readLifeDueKey(key).at

async function takeAll(
  core: Core,
  platform: TurnPlatform,
  due: readonly string[],
  stuck: Set<string>,
): Promise<void> {
  const rest = [...due]
  const work = async (): Promise<void> => {
    for (let key = rest.shift(); key !== undefined && hasTime(platform); key = rest.shift()) {
      try {
        if (!(await take(core, platform, key))) stuck.add(key)
      } catch (error) {
        stuck.add(key)
        core.report(error)
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

/** One step of a life. False: it could not be made now. @throws the errors of the store. */
async function take(core: Core, platform: TurnPlatform, key: string): Promise<boolean> {
  const { data } = core
  const { id } = readLifeDueKey(key)
  const [life, subscription] = await Promise.all([
    data.read<Life>(lifeKey(id)),
    data.read<Subscription>(subscriptionKey(id)),
  ])
  if (life === undefined) return isMade(core, [{ key }, { key: lifeKey(id), ifVersion: null, isCheck: true }])
  const now = Date.now()
  const change = (next: Life | undefined, more: readonly KeyedWrite[] = []): Promise<boolean> =>
    isMade(core, [...lifeWrites(id, life, next, key), ...more])
  const { phase, tries, dueAt } = life.value
  const isLater = dueAt !== undefined && dueAt > now
  const type = core.settings.types.get(life.value.type)
  if (type === undefined) return change({ ...life.value, dueAt: now + UNKNOWN_MS })
  if (phase !== 'end') {
    const isOver = subscription === undefined || isEnded(subscription.value)
    // It may be subscribed again at this moment.
    const still = { key: subscriptionKey(id), ifVersion: subscription?.version ?? null, isCheck: true }
    if (isOver && phase === 'begin' && tries === 0) return change(undefined, [still])
    const ended: Life = { ...life.value, phase: 'end', attempt: undefined, tries: 0, since: now, dueAt: now }
    // An attempt that runs may still tell of the beginning.
    if (isOver && !(isLater && life.value.attempt !== undefined)) return change(ended, [still])
    if (phase === 'live' && !isOver) {
      const { expiresAt } = subscription.value
      const next = expiresAt === null ? undefined : Math.max(expiresAt, now + AGAIN_MS)
      return change({ ...life.value, dueAt: next })
    }
  }
  // A key of before, or of what ended it.
  if (isLater) return isMade(core, lifeWrites(id, life, life.value, key))
  return attempt(core, platform, type, { id, life, key })
}

async function isMade({ data }: Core, writes: readonly KeyedWrite[]): Promise<boolean> {
  return (await data.commit(writes)) !== undefined
}

interface Taken {
  readonly id: string
  readonly life: Entry<Life>
  readonly key: string
}

async function attempt(
  core: Core,
  platform: TurnPlatform,
  type: EventType,
  { id, life, key }: Taken,
): Promise<boolean> {
  const own = crypto.randomUUID()
  const { tries } = life.value
  const begun: Life = { ...life.value, tries: tries + 1, attempt: own, dueAt: Date.now() + ATTEMPT_MS }
  if (!(await isMade(core, lifeWrites(id, life, begun, key)))) return false
  const isTold = await call(core, platform, type, id, begun)
  return untilMade(async () => {
    const found = await core.data.read<Life>(lifeKey(id))
    // It took too long: another run has made an attempt.
    if (found?.value.attempt !== own) return true
    const made = await isMade(core, lifeWrites(id, found, after(core, found.value, isTold)))
    return made ? true : undefined
  })
}

/** Undefined: everything was told. */
function after(core: Core, life: Life, isTold: boolean): Life | undefined {
  const now = Date.now()
  const { phase, tries, since, isAgain, type } = life
  const next = { ...life, attempt: undefined }
  const isGivenUp = !isTold && phase === 'end' && now - since >= GIVE_UP_MS
  if (isGivenUp)
    core.report(new Error(`"onUnsubscribe" of event "${type}" failed for a day, and is not called again.`))
  if (!isTold && !isGivenUp) return { ...next, dueAt: now + backoffMs(Math.min(tries, 20), BACKOFF) }
  // The next look finds out until when it lives.
  if (phase === 'begin') return { ...next, phase: 'live', tries: 0, since: now, dueAt: now }
  if (isAgain) return { ...next, phase: 'begin', isAgain: false, tries: 0, since: now, dueAt: now }
  return undefined
}

/** Whether the user's code resolved. */
async function call(
  core: Core,
  { env }: TurnPlatform,
  type: EventType,
  id: string,
  { phase, principal, auth, args }: Life,
): Promise<boolean> {
  const name = phase === 'begin' ? 'onSubscribe' : 'onUnsubscribe'
  const hook = type[name]
  if (hook === undefined) return true
  const own = new AbortController()
  try {
    const told = (async () =>
      hook({ id, name: type.id, args, principal, auth }, { env, signal: own.signal }))()
    await withTimeout(told, ANSWER_TIMEOUT_MS, `"${name}" of event "${type.id}"`)
    return true
  } catch (error) {
    core.report(error)
    return false
  } finally {
    own.abort()
  }
}
