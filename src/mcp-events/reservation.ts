/**
 * The right to change one subscription: taken before anything else is asked, so that of two requests the later one counts, and one that is
 * unsubscribed meanwhile does not return. A reservation counts for the quotas, and ends by itself.
 */
import type { KeyedWrite } from '../keyed/store.ts'
import type { Core } from './core.ts'
import { untilMade } from './data.ts'
import { exhausted, tooManyBegun } from './errors.ts'
import {
  countedKey,
  countedPrefix,
  fenceKey,
  gateKey,
  ownedKey,
  ownedPrefix,
  subscriptionKey,
} from './keys.ts'
import type { Subscription } from './record.ts'

/** The fence of a subscription. */
export type Fence = { readonly attempt: string } | { readonly isRemoved: true }

export interface Reservation {
  /** Of the fence: a change demands it. */
  readonly version: string
  /** Whether the subscription did not exist. */
  readonly isNew: boolean
}

/** Longer than a request takes. */
const RESERVATION_MS = 60_000
const HOUR_MS = 3_600_000
/** A gate only has to change while others look at the same numbers, and a principal's counts for an hour. */
const GATE_MS = 2 * HOUR_MS
/**
 * What a principal may begin in an hour, as multiples of its quota. One that is unsubscribed leaves a mark for a day, and one that begins in
 * the past is sent old events again: without a limit, beginning the same ones again and again would cost as much as anybody likes.
 */
const BEGUN = 10
const BEGUN_IN_PAST = 2
/** Subscriptions that are counted together. */
const SHARD = 1000
const HEX = 16

/** Who wants which subscription. */
export interface Asked {
  readonly id: string
  readonly owner: string
  /** Whether it would begin with events of the past. */
  readonly isInPast: boolean
}

/** The subscriptions that a principal has begun in an hour: in its gate. */
interface Begun {
  readonly hour: number
  readonly begun: number
  readonly inPast: number
}

/**
 * @throws ProtocolError `-32013` if the principal, or the server, has as many subscriptions as it may, or the principal has begun too many
 * in this hour.
 */
export async function reserve(core: Core, asked: Asked): Promise<Reservation> {
  const { id } = asked
  const { data } = core
  return untilMade(async () => {
    const [fence, entry] = await Promise.all([
      data.read<Fence>(fenceKey(id)),
      data.read<Subscription>(subscriptionKey(id)),
    ])
    const now = Date.now()
    const isNew = entry === undefined || entry.value.control?.type === 'terminated'
    const version = await data.commit([
      {
        key: fenceKey(id),
        value: JSON.stringify({ attempt: crypto.randomUUID() }),
        ifVersion: fence?.version ?? null,
        expiresAt: now + RESERVATION_MS,
      },
      ...(isNew ? await quotaWrites(core, asked, now) : []),
    ])
    return version === undefined ? undefined : { version, isNew }
  })
}

/** Counts, and reserves a place in both numbers. */
async function quotaWrites(core: Core, { id, owner, isInPast }: Asked, now: number): Promise<KeyedWrite[]> {
  const { maxSubscriptions, maxTotalSubscriptions } = core.settings
  const shard = shardOf(id, maxTotalSubscriptions)
  const gates = [gateKey(`p:${owner}`), gateKey(`a:${shard}`)]
  const found = await Promise.all(gates.map((gate) => core.data.read(gate)))
  const begun = oneMore(found[0]?.value as Begun | undefined, Math.floor(now / HOUR_MS), isInPast)
  if (begun.begun > BEGUN * maxSubscriptions) throw tooManyBegun('begin', BEGUN * maxSubscriptions)
  if (begun.inPast > BEGUN_IN_PAST * maxSubscriptions)
    throw tooManyBegun('begin with a cursor', BEGUN_IN_PAST * maxSubscriptions)
  const ofOwner = { prefix: ownedPrefix(owner), own: ownedKey(owner, id), max: maxSubscriptions }
  const own = countedKey(id)
  const [isOwnerFull, isServerFull] = await Promise.all([
    isFull(core, ofOwner),
    isTotalFull(core, shard, own),
  ])
  if (isOwnerFull) throw exhausted('subscriptions', maxSubscriptions)
  if (isServerFull) throw exhausted('subscriptions of the server', maxTotalSubscriptions)
  return [
    ...gates.map((key, index) => ({
      key,
      value: [JSON.stringify(begun), '1'][index]!,
      ifVersion: found[index]?.version ?? null,
      expiresAt: now + GATE_MS,
    })),
    { key: ofOwner.own, value: '1', expiresAt: now + RESERVATION_MS },
    { key: own, value: '1', expiresAt: now + RESERVATION_MS },
  ]
}

function oneMore(before: Begun | undefined, hour: number, isInPast: boolean): Begun {
  const { begun, inPast } = before?.hour === hour ? before : { begun: 0, inPast: 0 }
  return { hour, begun: begun + 1, inPast: inPast + (isInPast ? 1 : 0) }
}

/** As many hexadecimal digits of the id as parts of `SHARD` are needed. */
function shardOf(id: string, max: number): string {
  const digits = max <= SHARD ? 0 : Math.ceil(Math.log(max / SHARD) / Math.log(HEX))
  return id.slice('sub_'.length, 'sub_'.length + digits)
}

/**
 * Ids are spread over the parts by their digest, which who subscribes can choose by trying URLs: so where one part is full, 16 of them count
 * together. At one moment as many may be too many as begin in the others.
 */
async function isTotalFull(core: Core, shard: string, own: string): Promise<boolean> {
  const isPartFull = (part: string): Promise<boolean> => {
    const max = Math.max(1, Math.floor(core.settings.maxTotalSubscriptions / HEX ** part.length))
    return isFull(core, { prefix: countedPrefix(part), own, max })
  }
  return (await isPartFull(shard)) && (shard === '' || (await isPartFull(shard.slice(0, -1))))
}

async function isFull(
  core: Core,
  { prefix, own, max }: { readonly prefix: string; readonly own: string; readonly max: number },
): Promise<boolean> {
  let count = 0
  let after: string | undefined
  do {
    const page = await core.data.keys(prefix, Math.min(max + 1, SHARD), after)
    count += page.keys.filter((key) => key !== own).length
    if (count >= max) return true
    after = page.next
  } while (after !== undefined)
  return false
}

/** Gives back what was reserved, unless another request has it now. */
export async function giveBack(
  core: Core,
  id: string,
  owner: string,
  reservation: Reservation,
): Promise<void> {
  await core.data.commit([
    { key: fenceKey(id), ifVersion: reservation.version },
    ...(reservation.isNew ? [{ key: ownedKey(owner, id) }, { key: countedKey(id) }] : []),
  ])
}
