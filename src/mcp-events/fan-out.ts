/**
 * Puts a stored event into the subscriptions that want it. Its progress is stored with each step, so that another process can continue.
 * Events of a type are put in one after the other: so each subscription has them in order.
 */
import { type Backoff, backoffMs } from '../definition/backoff.ts'
import { pause } from '../definition/pause.ts'
import type { KeyedWrite } from '../keyed/store.ts'
import { patternsFor } from './canonical.ts'
import { type Core, isWanted } from './core.ts'
import type { Entry } from './data.ts'
import type { StoredEvent } from './emit.ts'
import type { EventType } from './event.ts'
import { eventKey, idIn, matchPrefix, outboxKey, outboxPrefix, seqIn, subscriptionKey } from './keys.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { isEnded, MAX_QUEUE, type Queued, type Subscription, toWrites } from './record.ts'

/** How far an event has come: the pattern, by its place in the list, and the last key of it. */
interface Progress {
  readonly pattern?: number
  readonly after?: string
}

/** Each needs up to three writes, and the progress one. */
const PER_COMMIT = 8

/** Between two looks at what another process does. */
const LOOKS: Backoff = { firstMs: 25, maxMs: 400 }

/**
 * Continues with the oldest event of a type until none is left, or there is no time. False: some are left.
 *
 * A process that another one was faster than leaves the events to that one, as long as it goes on: if all tried, each of them would ask for
 * everything in vain.
 */
export async function fanOut(core: Core, type: EventType, hasTime: () => boolean): Promise<boolean> {
  let losses = 0
  let seen: { readonly seq: number; readonly version: string } | undefined
  const step = async (mayGoOn: () => boolean): Promise<boolean> => {
    const waiting = await firstWaiting(core, type.id)
    if (waiting === undefined) return false
    if (!hasTime()) return true
    const progress = await core.data.read<Progress>(outboxKey(type.id, waiting))
    const goesOn = losses > 0 && (seen?.seq !== waiting || seen.version !== progress?.version)
    seen = progress && { seq: waiting, version: progress.version }
    if (!goesOn && progress !== undefined) {
      const lostAt = await putIn(core, type, { seq: waiting, progress }, mayGoOn)
      if (lostAt !== undefined) seen = { seq: waiting, version: lostAt.version }
      losses = lostAt === undefined ? 0 : losses + 1
    }
    if (losses > 0) await pause(backoffMs(losses, LOOKS) * (0.5 + Math.random() / 2))
    return true
  }
  return oneAtATime(core.lineOf(type.id), step, hasTime)
}

/** The oldest event that is not yet in all subscriptions. Undefined: there is none. */
export async function firstWaiting({ data }: Core, type: string): Promise<number | undefined> {
  const { keys } = await data.keys(outboxPrefix(type), 1)
  return keys[0] === undefined ? undefined : seqIn(keys[0], outboxPrefix(type))
}

/**
 * At least one commit, so that a slow store makes progress, too.
 *
 * @returns how far it was, if its entry or a subscription was changed meanwhile.
 */
async function putIn(
  core: Core,
  type: EventType,
  { seq, progress: first }: { readonly seq: number; readonly progress: Entry<Progress> },
  mayGoOn: () => boolean,
): Promise<Entry<Progress> | undefined> {
  const { data } = core
  const key = outboxKey(type.id, seq)
  const event = await data.read<StoredEvent>(eventKey(type.id, seq))
  const patterns = event === undefined ? [] : await patternsFor(type.index, event.value.data)
  for (let progress: Entry<Progress> | undefined = first; progress !== undefined; ) {
    const { pattern = 0, after } = progress.value
    const own = patterns[pattern]
    if (event === undefined || own === undefined)
      return (await data.commit([{ key, ifVersion: progress.version }])) === undefined ? progress : undefined
    const page = await data.keys(matchPrefix(type.id, own), PER_COMMIT, after)
    const found = page.keys.slice(0, PER_COMMIT)
    const isCut = found.length < page.keys.length
    const writes = await Promise.all(found.map((one) => toQueue(core, type, idIn(one), seq, event.value)))
    const next = isCut ? found.at(-1) : page.next
    const moved: Progress = next === undefined ? { pattern: pattern + 1 } : { pattern, after: next }
    const made = await data.commit([
      {
        key,
        value: JSON.stringify(moved),
        ifVersion: progress.version,
        ...(progress.expiresAt !== undefined && { expiresAt: progress.expiresAt }),
      },
      ...writes.flat(),
    ])
    if (made === undefined) return progress
    if (!mayGoOn()) break
    progress = await data.read<Progress>(key)
  }
  return undefined
}

async function toQueue(
  core: Core,
  type: EventType,
  id: string,
  seq: number,
  event: StoredEvent,
): Promise<KeyedWrite[]> {
  const entry = await core.data.read<Subscription>(subscriptionKey(id))
  if (entry === undefined || !receives(core, type, entry, seq, event)) return []
  return toWrites(id, entry, queued(entry.value, [[seq, 0, Date.now()]]))
}

function receives(
  core: Core,
  type: EventType,
  { value: subscription }: Entry<Subscription>,
  seq: number,
  event: StoredEvent,
): boolean {
  // It began after the event, or has it already.
  if (isEnded(subscription) || seq <= subscription.from) return false
  if (subscription.queue.some(([one]) => one === seq)) return false
  return isWanted(core, type, event.data, subscription.args)
}

/** With more events, in order; without the oldest if they are too many. */
export function queued(subscription: Subscription, more: readonly Queued[]): Subscription {
  const queue = [...subscription.queue, ...more].sort(([a], [b]) => a - b)
  if (queue.length <= MAX_QUEUE) return { ...subscription, queue }
  return { ...subscription, queue: queue.slice(-MAX_QUEUE), gap: 'untold' }
}
